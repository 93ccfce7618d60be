#include "lipschitzlr/data/table/encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>

#include "base/text.hpp"
#include "data/table/date.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Kind = EncodedColumn::Kind;

const DenseMatrix<double>& dense_of(const Table& table) { return std::get<DenseMatrix<double>>(table.features); }

// Dense ones, or streamed ones block by block: visit(first row, rows).
template <class Visit>
void for_each_part_of(const Table& table, const Visit& visit) {
  if (const auto* rows = std::get_if<StreamedRows<double>>(&table.features)) return rows->for_each_block(visit);
  visit(Index{0}, view_of(dense_of(table)));
}

const RawColumn& raw_of(const Table& table, Index column) {
  static const RawColumn numbers;
  return table.raw_columns.empty() ? numbers : table.raw_columns[static_cast<std::size_t>(column)];
}

// Means of the cells that are there, and how many those are, by column, of the rows of all processes. Row by row, as
// the matrix is stored. What fills a gap has the bits that one process would give it: folds are dealt by what rows
// hold.
struct CellMeans {
  using Row = Eigen::Array<double, 1, Eigen::Dynamic>;
  Row means, filled;
  Index rows;

  CellMeans(const Table& table, const Vector<double>& weights, Communicator* communicator)
      : rows(static_cast<Index>(all_reduce_sum(communicator, static_cast<double>(table.rows())))) {
    const auto weight_of = [&](Index row) { return weights.size() > 0 ? weights[row] : 1.0; };
    const Index columns = table.columns();
    Row sums = Row::Zero(columns), totals = sums;
    filled = Row::Constant(columns, static_cast<double>(rows));
    if (table.raw_columns.empty()) {
      totals.setConstant(weights.size() > 0 ? weights.sum() : static_cast<double>(table.rows()));
      const auto* const streamed = std::get_if<StreamedRows<double>>(&table.features);
      if (streamed != nullptr && weights.size() == 0) {
        sums = streamed->column_sums().sum;
      } else {
        for_each_part_of(table, [&](Index first, const DenseView<double>& part) {
          for (Index row = 0; row < part.rows(); ++row) sums += weight_of(first + row) * part.row(row).array();
        });
      }
      all_reduce_sum(communicator, sums);
      all_reduce_sum(communicator, totals);
    } else {
      const DenseMatrix<double>& matrix = dense_of(table);
      Eigen::Array<double, 3, Eigen::Dynamic, Eigen::RowMajor> all(3, columns);
      all.setZero();
      in_turn(communicator, {all.data(), static_cast<std::size_t>(all.size())}, [&] {
        filled = all.row(0), totals = all.row(1), sums = all.row(2);
        for (Index row = 0; row < matrix.rows(); ++row) {
          const auto cells = matrix.row(row).array();
          const Row is_there = cells.isNaN().select(Row::Zero(matrix.cols()), Row::Ones(matrix.cols()));
          filled += is_there;
          totals += weight_of(row) * is_there;
          sums += weight_of(row) * cells.isNaN().select(Row::Zero(matrix.cols()), cells);
        }
        all.row(0) = filled, all.row(1) = totals, all.row(2) = sums;
      });
      filled = all.row(0), totals = all.row(1), sums = all.row(2);
    }
    means = sums / totals.max(std::numeric_limits<double>::min());
  }
};

// 1, 0, or -1 for another text.
int boolean_from(const std::string& text) {
  constexpr std::array<const char*, 6> kWords = {"no", "yes", "false", "true", "n", "y"};
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const auto found = std::find(kWords.begin(), kWords.end(), lower);
  return found == kWords.end() ? -1 : static_cast<int>(found - kWords.begin()) % 2;
}

std::string quoted_list(const std::vector<std::string>& items) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, items.size()); ++i) list += (i > 0 ? ", " : "") + items[i];
  return items.size() > kShown ? fmt::format("{} and {} more", list, items.size() - kShown) : list;
}

// Of the numbers that are there, those with a 1.
Levels levels_of(std::span<const double> numbers, bool all_levels) {
  Levels levels;
  for (std::size_t number = 0; number < numbers.size(); ++number) {
    if (numbers[number] > 0) levels.names.push_back(std::to_string(number));
  }
  if (!all_levels) levels.reference = 0;
  return levels;
}

// A long double as doubles, with all its bits: two parts of its digits, and its exponent.
constexpr std::size_t kNumbersOfLong = 3;

void put_long(long double value, std::span<double, kNumbersOfLong> to) {
  int exponent = 0;
  const long double digits = std::frexp(value, &exponent);
  to[0] = static_cast<double>(digits);
  to[1] = static_cast<double>(digits - to[0]);
  to[2] = exponent;
}

long double long_of(std::span<const double, kNumbersOfLong> from) {
  return std::ldexp(static_cast<long double>(from[0]) + from[1], static_cast<int>(from[2]));
}

// What is learned of one column after the other, and what there is to say of them.
class Learner {
 public:
  Learner(const Table& table, const EncoderOptions& options, const Vector<double>& weights, Communicator* communicator)
      : table_(table),
        options_(options),
        weights_(weights),
        communicator_(communicator),
        means_(table, weights, communicator) {}

  // Fills in all but name and place; false: the column is left out.
  bool learn(Index column, EncodedColumn& encoded) {
    const RawColumn& raw = raw_of(table_, column);
    const std::string name = in_quotes(encoded.name);
    const auto filled = static_cast<Index>(means_.filled[column]);
    const Index gaps = means_.rows - filled;
    encoded.exact = raw.exact;
    encoded.marks_gaps = gaps > 0;
    if (filled == 0) {
      empty_.push_back(name);
      return false;
    }
    const bool kept =
        raw.kind == ColumnKind::text ? learn_texts(column, raw, filled, encoded) : learn_numbers(column, raw, encoded);
    if (kept && gaps > 0) {
      (encoded.kind == Kind::category ? gap_levels_ : filled_).push_back(fmt::format("{} {}", name, gaps));
    }
    return kept;
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> remarks;
    const auto say = [&](const std::vector<std::string>& columns, const std::string& sentence) {
      if (!columns.empty()) remarks.push_back(fmt::format(fmt::runtime(sentence), quoted_list(columns)));
    };
    say(empty_, "left out, because no row has a value: {}");
    say(constant_, "left out, because every row has the same text: {}");
    say(ids_, "left out as an id, because every row has another text: {} (--categorical keeps it)");
    say(filled_, fmt::format("gaps are filled with the {} and marked by a feature of their own: {{}}",
                             options_.missing == Missing::median ? "median" : "mean"));
    say(gap_levels_, "gaps are a level of their own: {}");
    say(cut_, fmt::format("of more than {} the rarest share one (--max-levels): {{}}",
                          counted(options_.max_levels, "level")));
    say(references_, "without a penalty one level of each category has no weight, and the others compare with it: {}");
    return remarks;
  }

 private:
  bool learn_numbers(Index column, const RawColumn& raw, EncodedColumn& encoded) {
    encoded.fill = options_.missing == Missing::median ? median(column) : means_.means[column];
    // A sum may be further than a number can reach.
    if (!std::isfinite(encoded.fill)) encoded.fill = mean(column, [](double value) { return value; });
    if (raw.kind == ColumnKind::number) return true;
    encoded.kind = Kind::date;
    std::array<double, 13> months{};
    std::array<double, 8> weekdays{};
    for (const double day : dense_of(table_).col(column)) {
      if (std::isnan(day)) continue;
      const MonthAndWeekday date = month_and_weekday(day);
      months.at(static_cast<std::size_t>(date.month)) = weekdays.at(static_cast<std::size_t>(date.weekday)) = 1;
    }
    all_reduce_max(communicator_, months);
    all_reduce_max(communicator_, weekdays);
    encoded.months = levels_of(months, options_.all_levels);
    encoded.weekdays = levels_of(weekdays, options_.all_levels);
    return true;
  }

  bool learn_texts(Index column, const RawColumn& raw, Index filled, EncodedColumn& encoded) {
    std::vector<double> counts(std::max<std::size_t>(raw.texts.size(), 1));
    for (const double place : dense_of(table_).col(column)) {
      if (!std::isnan(place)) ++counts[static_cast<std::size_t>(place)];
    }
    all_reduce_sum(communicator_, counts);
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) present.push_back(i);
    }
    const std::string name = in_quotes(encoded.name);
    const bool are_booleans = !raw.exact && std::all_of(present.begin(), present.end(),
                                                        [&](std::size_t i) { return boolean_from(raw.texts[i]) >= 0; });
    if (are_booleans && present.size() > 1) {
      encoded.kind = Kind::boolean;
      encoded.fill =
          mean(column, [&](double place) { return boolean_from(raw.texts[static_cast<std::size_t>(place)]); });
      return true;
    }
    if (!raw.exact && (raw.countless || (static_cast<Index>(present.size()) == filled && filled > 1))) {
      ids_.push_back(name);
      return false;
    }
    if (present.size() == 1 && !encoded.marks_gaps) {
      constant_.push_back(name);
      return false;
    }
    encoded.kind = Kind::category;
    // The most frequent first; the texts themselves decide between equals.
    std::sort(present.begin(), present.end(), [&](std::size_t a, std::size_t b) {
      return counts[a] != counts[b] ? counts[a] > counts[b] : raw.texts[a] < raw.texts[b];
    });
    const std::string most_frequent = raw.texts[present.front()];
    if (static_cast<Index>(present.size()) > options_.max_levels) {
      cut_.push_back(fmt::format("{} {}", name, present.size()));
      present.resize(static_cast<std::size_t>(options_.max_levels));
      encoded.has_other = true;
    }
    Levels& levels = encoded.levels;
    for (const std::size_t place : present) levels.names.push_back(raw.texts[place]);
    std::sort(levels.names.begin(), levels.names.end());
    if (options_.all_levels) return true;
    levels.reference = std::find(levels.names.begin(), levels.names.end(), most_frequent) - levels.names.begin();
    references_.push_back(fmt::format("{}={}", printable(encoded.name), in_quotes(most_frequent)));
    return true;
  }

  // In long double, which no sum of doubles overflows.
  template <class ValueOf>
  double mean(Index column, const ValueOf& value_of) const {
    std::array<double, 2 * kNumbersOfLong> numbers{};
    const std::span<double, kNumbersOfLong> sums(numbers.data(), kNumbersOfLong),
        totals(numbers.data() + kNumbersOfLong, kNumbersOfLong);
    in_turn(communicator_, numbers, [&] {
      long double sum = long_of(sums), total = long_of(totals);
      for_each_part_of(table_, [&](Index first, const DenseView<double>& part) {
        for (Index row = 0; row < part.rows(); ++row) {
          const double cell = part(row, column), weight = weights_.size() > 0 ? weights_[first + row] : 1;
          if (std::isnan(cell)) continue;
          sum += static_cast<long double>(weight) * value_of(cell);
          total += weight;
        }
      });
      put_long(sum, sums);
      put_long(total, totals);
    });
    return long_of(totals) > 0 ? static_cast<double>(long_of(sums) / long_of(totals)) : 0;
  }

  double median(Index column) const {
    std::vector<double> cells;
    for (const double cell : dense_of(table_).col(column)) {
      if (!std::isnan(cell)) cells.push_back(cell);
    }
    cells = all_gather(communicator_, std::move(cells));
    const auto middle = cells.begin() + static_cast<std::ptrdiff_t>(cells.size() / 2);
    std::nth_element(cells.begin(), middle, cells.end());
    if (cells.size() % 2 == 1) return *middle;
    return std::midpoint(*std::max_element(cells.begin(), middle), *middle);
  }

  const Table& table_;
  const EncoderOptions& options_;
  const Vector<double>& weights_;
  Communicator* communicator_;
  CellMeans means_;
  std::vector<std::string> empty_, constant_, ids_, filled_, gap_levels_, cut_, references_;  // columns
};

// Features of levels; the reference has none.
void add_levels(const Levels& levels, const std::string& before, const std::string& behind,
                std::vector<Encoder::Feature>& features) {
  for (std::size_t i = 0; i < levels.names.size(); ++i) {
    if (static_cast<Index>(i) != levels.reference) features.push_back({before + levels.names[i] + behind, true});
  }
}

std::vector<Encoder::Feature> features_of(const EncodedColumn& column) {
  std::vector<Encoder::Feature> features;
  if (column.kind != Kind::category) features.push_back({column.name, column.kind == Kind::boolean});
  add_levels(column.levels, column.name + "=", "", features);
  add_levels(column.months, column.name + " (month ", ")", features);
  add_levels(column.weekdays, column.name + " (weekday ", ")", features);
  if (column.has_other) features.push_back({column.name + " (other)", true});
  if (column.marks_gaps) features.push_back({column.name + " (missing)", true});
  return features;
}

Index count_features(const Levels& levels) {
  return static_cast<Index>(levels.names.size()) - (levels.reference >= 0 ? 1 : 0);
}

// Above this many features, most of them 0, a sparse matrix is smaller and faster.
bool is_sparse(const Encoder& encoder) {
  constexpr std::size_t kMostDense = 256, kLeastEmpty = 8;
  std::size_t filled = 0;
  for (const EncodedColumn& column : encoder.columns) filled += column.kind == Kind::date ? 3 : 1;
  const std::size_t features = encoder.features().size();
  return features > kMostDense && features > kLeastEmpty * filled;
}

// The features of one column, row by row.
class ColumnWriter {
 public:
  // place: -1, when the table has no such column.
  ColumnWriter(const EncodedColumn& column, const Table& table, Index place, Index first, bool sparse)
      : column_(column), place_(place), first_(first), matrix_(dense_of(table)), sparse_(sparse) {
    if (place >= 0) raw_ = raw_of(table, place);
    const bool texts = column.kind == Kind::category || column.kind == Kind::boolean;
    if (place >= 0 && !texts && raw_.kind == ColumnKind::text && !raw_.texts.empty()) {
      throw Error(Fault::data, fmt::format("the column {} has texts such as {}, but numbers in training",
                                           in_quotes(column.name), in_quotes(raw_.texts.front())));
    }
    const bool is_date = raw_.kind == ColumnKind::date;
    if (place >= 0 && !texts && is_date != (column.kind == Kind::date) && !matrix_.col(place).array().isNaN().all()) {
      throw Error(Fault::data, fmt::format("the column {} has {}, but {} in training", in_quotes(column.name),
                                           is_date ? "dates" : "numbers", is_date ? "numbers" : "dates"));
    }
    for (std::size_t i = 0; i < column.levels.names.size(); ++i) levels_.emplace(column.levels.names[i], i);
    for (const std::string& text : raw_.texts) codes_.push_back(code_of(text));
  }

  Index unknown = 0, gaps = 0;
  std::string first_unknown;

  template <class Emit>
  void write(Index row, const Emit& emit) {
    const double cell = place_ >= 0 ? matrix_(row, place_) : std::nan("");
    if (std::isnan(cell)) {
      ++gaps;
      return write_gap(emit);
    }
    if (column_.kind == Kind::number || column_.kind == Kind::date) {
      emit(first_, sparse_ ? cell - column_.fill : cell);
      if (column_.kind == Kind::date) write_date(cell, emit);
      return;
    }
    const bool is_text = raw_.kind == ColumnKind::text;
    const Index code = is_text ? codes_[static_cast<std::size_t>(cell)] : code_of(fmt::format("{}", cell));
    if (code == kUnknown) {
      if (unknown++ == 0)
        first_unknown = is_text ? raw_.texts[static_cast<std::size_t>(cell)] : fmt::format("{}", cell);
      if (column_.kind == Kind::boolean) return emit(first_, column_.fill);
      if (column_.has_other) emit(first_ + count_features(column_.levels), 1);
      return;
    }
    if (column_.kind == Kind::boolean) return emit(first_, static_cast<double>(code));
    write_level(column_.levels, code, first_, emit);
  }

 private:
  static constexpr Index kUnknown = -1;

  Index code_of(const std::string& text) const {
    if (column_.kind == Kind::boolean) return boolean_from(text);
    const auto found = levels_.find(text);
    return found == levels_.end() ? kUnknown : static_cast<Index>(found->second);
  }

  template <class Emit>
  static void write_level(const Levels& levels, Index level, Index first, const Emit& emit) {
    if (level == levels.reference) return;
    emit(first + level - (levels.reference >= 0 && level > levels.reference ? 1 : 0), 1);
  }

  template <class Emit>
  void write_date(double day, const Emit& emit) {
    const MonthAndWeekday date = month_and_weekday(day);
    Index first = first_ + 1;
    for (const auto& [levels, number] :
         {std::pair(&column_.months, date.month), std::pair(&column_.weekdays, date.weekday)}) {
      const auto found = std::find(levels->names.begin(), levels->names.end(), std::to_string(number));
      if (found != levels->names.end()) write_level(*levels, found - levels->names.begin(), first, emit);
      first += count_features(*levels);
    }
  }

  template <class Emit>
  void write_gap(const Emit& emit) const {
    if (column_.kind != Kind::category && !(sparse_ && column_.kind != Kind::boolean)) emit(first_, column_.fill);
    if (!column_.marks_gaps) return;
    const Index features = (column_.kind == Kind::category ? 0 : 1) + count_features(column_.levels) +
                           count_features(column_.months) + count_features(column_.weekdays) +
                           (column_.has_other ? 1 : 0);
    emit(first_ + features, 1);
  }

  const EncodedColumn& column_;
  Index place_, first_;
  const DenseMatrix<double>& matrix_;
  bool sparse_;
  RawColumn raw_;
  std::unordered_map<std::string, std::size_t> levels_;
  std::vector<Index> codes_;  // by place of a text
};

// One feature behind the other, each row ascending, as a compressed matrix wants them.
SparseMatrix<double> write_sparse(std::vector<ColumnWriter>& writers, Index rows, Index features) {
  SparseMatrix<double> matrix(rows, features);
  Index count = 0;
  matrix.reserve(rows * static_cast<Index>(writers.size()));
  for (Index row = 0; row < rows; ++row) {
    matrix.startVec(row);
    for (ColumnWriter& writer : writers) {
      writer.write(row, [&](Index feature, double value) {
        if (value == 0) return;
        if (++count > std::numeric_limits<SparseMatrix<double>::StorageIndex>::max()) {
          throw Error(Fault::data, "the encoded table has more values than fit; leave columns out with --ignore");
        }
        matrix.insertBack(row, feature) = value;
      });
    }
  }
  matrix.finalize();
  return matrix;
}

DenseMatrix<double> write_dense(std::vector<ColumnWriter>& writers, Index rows, Index features) {
  DenseMatrix<double> matrix = DenseMatrix<double>::Zero(rows, features);
  for (Index row = 0; row < rows; ++row) {
    for (ColumnWriter& writer : writers) {
      writer.write(row, [&](Index feature, double value) { matrix(row, feature) = value; });
    }
  }
  return matrix;
}

}  // namespace

Encoder Encoder::learn(const Table& training, const EncoderOptions& options, const Vector<double>& row_weights,
                       Communicator* communicator) {
  Encoder encoder;
  encoder.missing = options.missing;
  if (std::holds_alternative<SparseMatrix<double>>(training.features)) return encoder;
  if (const auto* rows = std::get_if<StreamedRows<double>>(&training.features);
      rows != nullptr && options.missing == Missing::median) {
    Table held = training;  // a median needs a column at once
    held.features = rows->dense();
    return learn(held, options, row_weights, communicator);
  }
  encoder.width = training.places.empty() ? training.columns() : training.width;
  Learner learner(training, options, row_weights, communicator);
  for (Index column = 0; column < training.columns(); ++column) {
    const auto index = static_cast<std::size_t>(column);
    EncodedColumn encoded;
    encoded.name = training.feature_names[index];
    encoded.place = training.places.empty() ? column : training.places[index];
    if (learner.learn(column, encoded)) encoder.columns.push_back(std::move(encoded));
  }
  encoder.remarks = learner.remarks();
  encoder.sparse = is_sparse(encoder);
  return encoder;
}

bool Encoder::is_plain() const {
  return !sparse && std::all_of(columns.begin(), columns.end(), [](const EncodedColumn& column) {
    return column.kind == Kind::number && !column.marks_gaps;
  });
}

std::vector<KnownColumn> Encoder::known_columns(bool by_place) const {
  std::vector<KnownColumn> known(by_place ? static_cast<std::size_t>(width) : 0, {"", ColumnKind::text});
  for (const EncodedColumn& column : columns) {
    const ColumnKind kind = column.kind == Kind::number ? ColumnKind::number
                            : column.kind == Kind::date ? ColumnKind::date
                                                        : ColumnKind::text;
    const KnownColumn one{column.name, kind, column.exact};
    if (by_place) {
      known[static_cast<std::size_t>(column.place)] = one;
    } else {
      known.push_back(one);
    }
  }
  return known;
}

std::vector<Encoder::Feature> Encoder::features() const {
  std::vector<Feature> features;
  std::set<std::string> taken;
  for (const EncodedColumn& column : columns) {
    for (Feature& feature : features_of(column)) {
      while (!taken.insert(feature.name).second) feature.name += '_';
      features.push_back(std::move(feature));
    }
  }
  return features;
}

ColumnPlaces Encoder::places_in(const Table& table) const {
  std::unordered_map<std::string_view, Index> place_of;
  for (const std::string& name : table.feature_names) place_of.emplace(name, static_cast<Index>(place_of.size()));
  ColumnPlaces places;
  for (const EncodedColumn& column : columns) {
    const auto found = place_of.find(column.name);
    places.push_back(found == place_of.end() ? -1 : found->second);
  }
  return places;
}

void Encoder::name_features(Table& table) const {
  const std::vector<Feature> made = features();
  table.feature_names.clear();
  for (const Feature& feature : made) table.feature_names.push_back(feature.name);
  table.raw_columns.clear();
  table.places.clear();
  table.indicators.clear();
  if (!is_plain()) {
    for (const Feature& feature : made) table.indicators.push_back(feature.indicator);
  }
}

Table Encoder::apply(Table table, const ColumnPlaces& places, const std::string& source, bool strict) const {
  bool identity = is_plain() && table.raw_columns.empty() && static_cast<Index>(places.size()) == table.columns();
  for (std::size_t i = 0; i < places.size(); ++i) identity &= places[i] == static_cast<Index>(i);
  if (const auto* streamed = std::get_if<StreamedRows<double>>(&table.features)) {
    const bool picks = is_plain() && std::none_of(places.begin(), places.end(), [](Index place) { return place < 0; });
    if (picks) {
      if (!identity) table.features = streamed->take_columns(places);
      name_features(table);
      return table;
    }
    table.features = streamed->dense();
  }
  const Index rows = table.rows();
  std::vector<ColumnWriter> writers;
  Index first = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    writers.emplace_back(columns[i], table, places[i], first, sparse);
    first += static_cast<Index>(features_of(columns[i]).size());
  }
  Features features;
  if (sparse) {
    features.emplace<SparseMatrix<double>>(write_sparse(writers, rows, first));
  } else if (!identity) {
    features.emplace<DenseMatrix<double>>(write_dense(writers, rows, first));
  }
  const auto say = [&](const std::string& sentence) {
    if (strict) throw Error(Fault::data, fmt::format("{}: {} (--strict)", source, sentence));
    table.remarks.push_back(fmt::format("{}: {}", source, sentence));
  };
  std::vector<std::string> gone, unknown, filled;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = in_quotes(columns[i].name);
    if (places[i] < 0) {
      gone.push_back(name);
    } else if (writers[i].gaps > 0) {
      filled.push_back(fmt::format("{} {}", name, writers[i].gaps));
    }
    if (writers[i].unknown > 0 && !columns[i].has_other) {
      unknown.push_back(fmt::format("{} {} ({})", name, writers[i].unknown, in_quotes(writers[i].first_unknown)));
    }
  }
  if (!gone.empty()) say(fmt::format("columns are missing and taken as gaps: {}", quoted_list(gone)));
  if (!unknown.empty()) say(fmt::format("cells have levels that the model does not know: {}", quoted_list(unknown)));
  if (!filled.empty()) {
    table.remarks.push_back(fmt::format("{}: gaps are treated as in training: {}", source, quoted_list(filled)));
  }
  writers.clear();  // they refer to the features
  if (!identity) table.features = std::move(features);
  name_features(table);
  return table;
}

std::vector<Index> complete_rows(const Table& table) {
  std::vector<Index> rows;
  const auto* matrix = std::get_if<DenseMatrix<double>>(&table.features);
  for (Index row = 0; row < table.rows(); ++row) {
    if (matrix == nullptr || table.raw_columns.empty() || !matrix->row(row).array().isNaN().any()) rows.push_back(row);
  }
  return rows;
}

}  // namespace lipschitzlr::data

#include "lipschitzlr/run/prepare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/cores.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/memory.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/data/table/packed.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/row_weights.hpp"
#include "lipschitzlr/run/row_weights.hpp"
#include "run/fit_summary.hpp"
#include "run/packed_cache.hpp"

namespace lipschitzlr::run {
namespace {

bound::Tikhonov read_tikhonov(const std::string& text) {
  if (text.empty()) return {};
  if (const std::optional<double> gamma = number_from(text)) return bound::Tikhonov(*gamma);
  data::ReadOptions options;
  options.has_target = false;
  const data::Table table = data::read_table(text, options);
  const auto* matrix = std::get_if<DenseMatrix<double>>(&table.features);
  if (matrix == nullptr)
    throw Error(Fault::data, fmt::format("{}: Gamma must be a table of numbers, not LIBSVM", text));
  if (matrix->rows() == 1) return bound::Tikhonov(Vector<double>(matrix->row(0).transpose()));
  if (matrix->cols() == 1) return bound::Tikhonov(Vector<double>(matrix->col(0)));
  return bound::Tikhonov(*matrix);
}

// What to say for a target of numbers, which may be meant either way.
std::string other_model(const Prepared& prepared) {
  const std::vector<std::string>& labels = prepared.train.labels;
  if (labels.empty()) return " (for classes: --model softmax)";
  const bool numbers = std::all_of(labels.begin(), labels.end(), [](const auto& label) { return number_from(label); });
  return numbers ? " (for a number: --model linear)" : "";
}

// Rows set aside count as those of their class that are trained on.
void weigh_classes(const std::string& text, Prepared& prepared, Communicator* communicator) {
  if (text.empty()) return;
  const std::vector<double> classes = class_weights(prepared.train, text, communicator);
  const auto weigh = [&](const data::Table& table, Vector<double>& weights) {
    const Vector<double> of_class = linear::row_weights_of(table.target, classes);
    weights = weights.size() > 0 ? Vector<double>(weights.cwiseProduct(of_class)) : of_class;
  };
  weigh(prepared.train, prepared.train_weights);
  weigh(prepared.test, prepared.test_weights);
}

data::ReadOptions raw_reading(const DataOptions& options) {
  data::ReadOptions read = options.read;
  read.raw = true;
  if (!read.only.empty() && !options.weight.empty()) read.only.push_back(options.weight);
  read.refuses_gaps = options.encoding.missing == data::Missing::error;
  if (options.holdout > 0) read.copies = 2;  // those set aside, and the others
  for (const std::string& name : options.categorical) read.known.push_back({name, data::ColumnKind::text, true});
  return read;
}

Index count_all(Index rows, Communicator* communicator) {
  return static_cast<Index>(all_reduce_sum(communicator, static_cast<double>(rows)));
}

void drop_gaps(data::Table& table, Communicator* communicator) {
  const std::vector<Index> complete = data::complete_rows(table);
  const Index rows = count_all(table.rows(), communicator);
  const Index kept = count_all(static_cast<Index>(complete.size()), communicator);
  if (kept == rows) return;
  const std::string sentence = fmt::format("{} of {} have gaps and are left out", rows - kept, counted(rows, "row"));
  if (kept == 0) throw Error(Fault::data, sentence + ": there is nothing to learn from; take --missing mean");
  table = data::take_rows(table, complete);
  table.remarks.push_back(sentence);
}

void encode(const DataOptions& options, Prepared& prepared, Communicator* communicator) {
  prepared.encoder = data::Encoder::learn(prepared.train, options.encoding, prepared.train_weights, communicator);
  const data::Encoder& encoder = prepared.encoder;
  if (!encoder.remarks.empty() && !encoder.known()) {
    throw Error(Fault::data, fmt::format("{}: no feature is left to learn from: {}", display_name(options.source),
                                         fmt::join(encoder.remarks, "; ")));
  }
  if (!encoder.known()) return;
  const data::ColumnPlaces places = encoder.places_in(prepared.train);
  for (data::Table* table : {&prepared.train, &prepared.test}) {
    if (table == &prepared.test && prepared.test.feature_names.empty()) continue;
    std::vector<std::string> remarks = table->remarks;
    remarks.insert(remarks.end(), encoder.remarks.begin(), encoder.remarks.end());
    *table = encoder.apply(std::move(*table), places, "");
    table->remarks = std::move(remarks);
  }
}

// A CSV larger than the memory goes through the cache; where it has other cells than numbers, it can't. asked: for the
// limit.
data::Table load_file(const std::string& source, const data::ReadOptions& options, bool asked) {
  const auto copies = static_cast<std::uint64_t>(options.copies);
  if (data::csv_memory(source, options) * copies <= *options.memory) return data::read_table(source, options);
  CachedPack pack{source, options, ""};
  try {
    pack = pack_into_cache(source, options);
  } catch (const Error& error) {
    pack.remark = fmt::format("{}: takes more than --memory {} and can't be packed ({})", source,
                              format_size(*options.memory), error.what());
    if (asked) throw Error(error.fault(), pack.remark + "; give a larger --memory, or leave out what is no number");
    pack.remark += "; all of it is in memory";
  }
  data::Table table = data::read_table(pack.path, pack.options);
  table.remarks.push_back(pack.remark);
  return table;
}

// A file, a pattern of files, or standard input; a folder that happens to have a data set's name does not hide it.
bool is_file(const std::string& source) {
  const bool named = data::catalogue::find(source) != nullptr;
  const bool exists = std::filesystem::exists(source) && !(named && std::filesystem::is_directory(source));
  return source == "-" || exists || source.find_first_of("*?[{") != std::string::npos;
}

// A CSV of which a part alone takes more is not packed by itself: the others would wait for it.
void expect_memory_for_part(const std::string& source, const data::ReadOptions& options, Communicator& communicator) {
  from_root(&communicator, [&] {
    const std::uint64_t needed = options.memory ? data::csv_memory(source, options) : 0;
    const std::uint64_t part =
        needed * static_cast<std::uint64_t>(options.copies) / static_cast<std::uint64_t>(communicator.size());
    if (options.memory && part > *options.memory) {
      throw Error(Fault::usage,
                  fmt::format("{}: the part of each process takes {}, more than --memory {}: pack it first "
                              "(lipschitzlr data pack), or take more processes",
                              source, format_size(part), format_size(*options.memory)));
    }
    return "";
  });
}

data::Table load_whole(const std::string& source, const data::ReadOptions& given) {
  data::ReadOptions options = given;
  if (!options.memory) options.memory = machine_memory() / 2;
  if (is_file(source)) return load_file(source, options, given.memory.has_value());
  if (data::catalogue::find(source) != nullptr) {
    const bool asked = options.target && !options.target_may_be_missing;
    const bool picks =
        !options.ignore.empty() || !options.only.empty() || (!options.known.empty() && !options.target_may_be_missing);
    if (asked || picks || options.format != data::Format::detect || options.header || options.separator) {
      throw Error(
          Fault::usage,
          fmt::format("{} is a data set with a target of its own: --target, --format, --sep, --header, --ignore, "
                      "--only and --categorical are for files; `lipschitzlr data path {}` gives the file",
                      source, source));
    }
    return data::catalogue::load(source);
  }
  std::vector<std::string> names;
  for (const data::catalogue::Entry& entry : data::catalogue::entries()) names.push_back(entry.name);
  throw Error(Fault::data, fmt::format("{}: there is no such file, and no data set of that name{}; `lipschitzlr data "
                                       "list` shows the names",
                                       source, did_you_mean(source, names)));
}

// A table that every process has read: the part of each.
data::Table share_of_table(data::Table table, Communicator& communicator) {
  require_equal(communicator, "data", fingerprint(table), Fault::data);
  const auto [first, last] = share_of(table.rows(), communicator.rank(), communicator.size());
  std::vector<Index> own(static_cast<std::size_t>(last - first));
  std::iota(own.begin(), own.end(), first);
  return data::take_rows(table, own);
}
}  // namespace

std::string display_name(const std::string& source) { return source == "-" ? "standard input" : source; }

data::Table load_table(const std::string& source, const data::ReadOptions& options, Communicator* communicator) {
  if (communicator == nullptr) return load_whole(source, options);
  if (!from_root(communicator, [&] { return is_file(source) ? "file" : ""; }).empty()) {
    data::ReadOptions own = options;
    expect_memory_for_part(source, own, *communicator);
    if (!own.memory) own.memory = machine_memory() / 2 / processes_here(*communicator);
    own.memory = static_cast<std::uint64_t>(-all_reduce_max(communicator, -static_cast<double>(*own.memory)));
    if (auto part = data::read_part(source, own, *communicator)) return std::move(*part);
  }
  data::Table table;
  together(communicator, [&] { table = load_whole(source, options); });
  return share_of_table(std::move(table), *communicator);
}

Prepared prepare(const DataOptions& options, Communicator* communicator) {
  Prepared prepared;
  data::Table table = load_table(options.source, raw_reading(options), communicator);
  prepared.bytes_read = all_gather(communicator, {static_cast<double>(table.bytes_read)});
  if (std::count(prepared.bytes_read.begin(), prepared.bytes_read.end(), 0) > 0) prepared.bytes_read.clear();
  if (options.encoding.missing == data::Missing::drop) drop_gaps(table, communicator);
  const Vector<double> column =
      options.weight.empty() ? Vector<double>() : take_weights(table, options.weight, communicator);
  const linear::Family family = linear::choose_family(options.model, table, communicator);
  if (options.holdout > 0) {
    Random random(options.seed);
    const data::Split split = data::split_rows(table, options.holdout, random, communicator);
    prepared.train = data::take_rows(table, split.train);
    prepared.test = data::take_rows(table, split.test);
    if (column.size() > 0) {
      prepared.train_weights = column(split.train);
      prepared.test_weights = column(split.test);
    }
  } else {
    prepared.train = std::move(table);
    prepared.train_weights = column;
  }
  prepared.train_rows = count_all(prepared.train.rows(), communicator);
  if (options.holdout > 0) prepared.test_rows = count_all(prepared.test.rows(), communicator);
  weigh_classes(options.class_weight, prepared, communicator);
  const double weights = prepared.train_weights.sum() + prepared.test_weights.sum();
  if (!std::isfinite(all_reduce_sum(communicator, weights))) {
    throw Error(Fault::usage,
                "--weight, --class-weight: the weights of all rows add up to infinity; give smaller ones");
  }
  encode(options, prepared, communicator);
  prepared.setup.family = family;
  learn_preparation(options, prepared, communicator);
  return prepared;
}

void learn_preparation(const DataOptions& options, Prepared& prepared, Communicator* communicator) {
  linear::FitOptions model = model_of(options);
  model.row_weights = prepared.train_weights;
  static_cast<linear::Preparation&>(prepared) =
      linear::prepare(prepared.train, prepared.setup.family, model, communicator);
}

linear::FitOptions model_of(const DataOptions& options) {
  const bool spared = options.intercept && !options.penalize_intercept && options.tikhonov.empty();
  return {
      .scaling = options.scaling,
      .intercept = options.intercept,
      .penalty = {.l2 = options.l2,
                  .tikhonov = read_tikhonov(options.tikhonov),
                  .spare_last = spared,
                  .l1 = options.l1},
      .weight_bound = options.weight_bound,
  };
}

std::string describe(const DataOptions& options, const Prepared& prepared) {
  const data::Table& train = prepared.train;
  const std::string tested =
      prepared.test_rows > 0 ? fmt::format(" ({} more set aside for testing)", prepared.test_rows) : "";
  const std::string what = prepared.setup.family == linear::Family::linear
                               ? fmt::format("of the number \"{}\"", train.target_name)
                               : fmt::format("of the {} classes of \"{}\"", train.labels.size(), train.target_name);
  const data::Encoder& encoder = prepared.encoder;
  const std::string as_features = encoder.is_plain() ? "" : counted(encoder.columns.size(), "column") + " as ";
  std::vector<std::string> phrases = {
      fmt::format("{}: {}{},", display_name(options.source), counted(prepared.train_rows, "row"), tested),
      as_features + counted(train.columns(), "feature") + (options.intercept ? " and an intercept;" : ";"),
      fmt::format("{} regression {}", to_string(prepared.setup.family), what)};
  phrases.back() += !options.model ? "," : ";";
  if (!options.model) phrases.push_back(fmt::format("chosen by the target{};", other_model(prepared)));
  phrases.push_back("scaling: " + data::to_string(prepared.scaler.kind));
  if (!prepared.bytes_read.empty()) {
    phrases.back() += ";";
    std::vector<std::string> parts;
    for (const double bytes : prepared.bytes_read) parts.push_back(format_bytes(bytes));
    phrases.push_back(fmt::format("{} processes read {}", parts.size(), fmt::join(parts, ", ")));
  }
  std::string sentence = wrap_items("", phrases, " ");
  sentence.pop_back();  // the last end of line is the caller's
  return sentence;
}

}  // namespace lipschitzlr::run

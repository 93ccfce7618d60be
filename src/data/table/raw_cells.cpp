#include "data/table/raw_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"
#include "data/table/date.hpp"
#include "data/table/number.hpp"
#include "lipschitzlr/base/collective.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kMostTexts = 1 << 20;
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

bool is_gap(std::string_view text) {
  return is_missing_word(text) || (is_non_finite_word(text) && !is_infinity_word(text));
}

}  // namespace

RawCells::RawCells(const KnownColumn* known, bool refuses_gaps)
    : kind_(known != nullptr ? known->kind : ColumnKind::number),
      is_known_(known != nullptr),
      is_exact_(known != nullptr && known->exact),
      refuses_gaps_(refuses_gaps) {}

RawCells::RawCells(const RawCells* whole)
    : whole_(whole),
      first_place_(static_cast<double>(whole->texts_.size())),
      kind_(whole->kind_),
      is_known_(whole->is_known_),
      is_exact_(whole->is_exact_),
      refuses_gaps_(whole->refuses_gaps_) {}

bool RawCells::can_join(const RawCells& part) const {
  return is_known_ || is_full() || places_.size() + part.places_.size() <= kMostTexts;
}

void RawCells::join(const RawCells& part, const ColumnOfMatrix& rows) {
  has_gaps_ |= part.has_gaps_;
  countless_ |= part.countless_;
  if (part.places_.empty()) return;
  const bool is_behind = static_cast<double>(texts_.size()) == part.first_place_;  // so that places stay as they are
  std::vector<double> places;
  for (std::size_t i = 0; i < part.texts_.size(); ++i) places.push_back(place_of(part.texts_[i], part.is_number_[i]));
  const auto joined = [&](double place) {
    return place >= part.first_place_ ? places[static_cast<std::size_t>(place - part.first_place_)] : place;
  };
  for (const auto& [text, place] : part.places_) {
    if (!is_full()) places_.emplace(text, joined(place));
  }
  if (is_behind) return;
  for (Index row = 0; row < rows.rows; ++row) rows[row] = joined(rows[row]);
}

std::string RawCells::add(std::string_view text, std::optional<double> number, std::int64_t line,
                          const ColumnOfMatrix& above, double& value) {
  if (!number && is_gap(text)) {
    if (refuses_gaps_) return "a value, because gaps are refused (--missing error)";
    has_gaps_ = true;
    value = kGap;
    if (kind_ == ColumnKind::text && !is_full()) places_.emplace(text, kGap);
    return {};
  }
  if (kind_ == ColumnKind::text) return add_text(text, number, value);
  if (kind_ == ColumnKind::number && number) {
    value = *number;
    return {};
  }
  const std::optional<double> date = date_from(text);
  if (kind_ == ColumnKind::date) {
    if (!date) return is_known_ ? "a date, YYYY-MM-DD, as in training" : "a date as in the lines above";
    value = *date;
    return {};
  }
  if (is_known_) return "a number as in training";
  if (whole_ != nullptr) return "what the lines above tell";
  const auto is_number = [&](Index row) { return !std::isnan(above[row]); };
  bool has_numbers = numbers_above_;
  for (Index row = 0; row < above.rows && !has_numbers; ++row) has_numbers = is_number(row);
  if (date && !has_numbers) {
    kind_ = ColumnKind::date;
    value = *date;
    return {};
  }
  make_texts(above);
  first_line_ = line;
  first_text_ = text;
  return add_text(text, number, value);
}

void RawCells::make_texts(const ColumnOfMatrix& above) {
  kind_ = ColumnKind::text;
  for (Index row = 0; row < above.rows; ++row) {
    if (!std::isnan(above[row])) above[row] = place_of(fmt::format("{}", above[row]), true);
  }
}

std::string RawCells::add_text(std::string_view text, std::optional<double> number, double& value) {
  if (!is_utf8(text)) return "a text in UTF-8 (save the file as UTF-8)";
  if (number && !is_exact_) {
    const std::string spelled = fmt::format("{}", *number);
    value = place_of(spelled, true);
    if (spelled != text && !is_full()) places_.emplace(text, value);
  } else {
    value = place_of(text, false);
  }
  return {};
}

bool RawCells::is_full() const { return (whole_ != nullptr ? whole_ : this)->places_.size() >= kMostTexts; }

double RawCells::place_of(std::string_view text, bool is_number) {
  double place = 0;
  if (find(text, place)) return place;
  // A column of a model, or one that is told to be a category, has no other use.
  if (!is_known_ && is_full()) {
    countless_ = true;
    return 0;
  }
  place = first_place_ + static_cast<double>(texts_.size());
  places_.emplace(text, place);
  texts_.emplace_back(text);
  is_number_.push_back(is_number);
  return place;
}

// A typing error must not make a category of a quantity. Texts that stand for something are more than one in twenty
// cells, or stand among few different numbers, as grades and codes do.
std::optional<RawCells::Slip> RawCells::find_slip(const ColumnOfMatrix& column, Communicator* communicator) const {
  constexpr Index kFewTexts = 20;
  if (kind_ != ColumnKind::text || is_known_ || countless_) return std::nullopt;
  const auto different = static_cast<Index>(std::count(is_number_.begin(), is_number_.end(), true));
  if (different == 0) return std::nullopt;
  std::array<double, 2> counts{};  // of texts and of numbers
  for (Index row = 0; row < column.rows; ++row) {
    if (!std::isnan(column[row])) ++counts.at(is_number_[static_cast<std::size_t>(column[row])] ? 1 : 0);
  }
  all_reduce_sum(communicator, counts);
  const auto texts = static_cast<Index>(counts[0]), numbers = static_cast<Index>(counts[1]);
  const bool are_few = texts < numbers && texts <= std::max<Index>(1, (texts + numbers) / kFewTexts);
  const bool is_quantity = different > static_cast<Index>(kMostNumberedClasses) || different == numbers;
  return are_few && is_quantity ? std::optional(Slip{first_line_, first_text_}) : std::nullopt;
}

RawCells::State RawCells::state(const ColumnOfMatrix& rows) const {
  State state{kind_, numbers_above_, has_gaps_, countless_, first_line_, first_text_};
  for (Index row = 0; row < rows.rows && kind_ == ColumnKind::number && !state.has_numbers; ++row) {
    state.has_numbers = !std::isnan(rows[row]);
  }
  return state;
}

void RawCells::begin_below(const State& above) {
  kind_ = above.kind;
  numbers_above_ = above.has_numbers;
  has_gaps_ = above.has_gaps;
  countless_ = above.countless;
  first_line_ = above.first_line;
  first_text_ = above.first_text;
}

void RawCells::unite(const State& all, const ColumnOfMatrix& rows, Communicator& communicator) {
  if (all.kind == ColumnKind::text && kind_ == ColumnKind::number) make_texts(rows);
  begin_below(all);
  if (kind_ != ColumnKind::text) return;
  if (countless_) return forget_texts(rows);
  const std::vector<std::string> own = std::exchange(texts_, {});
  const std::string message = nlohmann::json{own, std::exchange(is_number_, {})}.dump();
  places_.clear();
  for (const std::string& part : gather_bytes(&communicator, message)) {
    const nlohmann::json texts = parse_json(part, "");
    for (std::size_t i = 0; i < texts[0].size(); ++i) {
      place_of(texts[0][i].get_ref<const std::string&>(), texts[1][i].get<bool>());
    }
  }
  if (countless_) return forget_texts(rows);
  std::vector<double> places;
  for (const std::string& text : own) places.push_back(places_.find(text)->second);
  for (Index row = 0; row < rows.rows; ++row) {
    if (!std::isnan(rows[row])) rows[row] = places[static_cast<std::size_t>(rows[row])];
  }
}

// More than are kept: what is left is that there is a text.
void RawCells::forget_texts(const ColumnOfMatrix& rows) {
  texts_.assign(1, first_text_);
  is_number_.assign(1, false);
  for (Index row = 0; row < rows.rows; ++row) {
    if (!std::isnan(rows[row])) rows[row] = 0;
  }
}

bool can_follow(const RawCells::State& above, const RawCells::State& part) {
  switch (part.kind) {
    case ColumnKind::number:
      return above.kind != ColumnKind::date || !part.has_numbers;
    case ColumnKind::date:
      return above.kind == ColumnKind::date || (above.kind == ColumnKind::number && !above.has_numbers);
    case ColumnKind::text:
      return above.kind != ColumnKind::date;
  }
  return false;
}

RawCells::State joined(const RawCells::State& above, const RawCells::State& part) {
  RawCells::State both = above;
  if (above.kind == ColumnKind::number) both.kind = part.kind;
  if (above.first_line == 0) both.first_line = part.first_line, both.first_text = part.first_text;
  both.has_numbers |= part.has_numbers;
  both.has_gaps |= part.has_gaps;
  both.countless |= part.countless;
  return both;
}

RawColumn RawCells::finish() && { return {kind_, std::move(texts_), is_exact_, countless_}; }

}  // namespace lipschitzlr::data

#include "data/table/target_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/text.hpp"
#include "data/table/number.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kMostClasses = 1 << 16;

// A text below this many different numbers with fractions is a mistake rather than a class.
constexpr std::size_t kMostFractions = 256;

bool is_whole(double value) { return value == std::floor(value); }

}  // namespace

void TargetColumn::reserve(Index rows) {
  if (rows_ + rows <= values_.size()) return;
  values_.conservativeResize(std::max(rows_ + rows, rows_ + rows_ / 2));
  first_ = values_.data();
}

TargetColumn::TargetColumn(const TargetColumn& whole, Index rows_between)
    : whole_(&whole),
      kind_(whole.kind_),
      first_(whole.first_ + whole.rows_ + rows_between),
      first_place_(static_cast<Index>(whole.places_.size())),
      has_word_(whole.has_word_) {}

bool TargetColumn::can_join(const TargetColumn& part) const {
  return part.kind_ == kind_ && (kind_ != Kind::classes || places_.size() + part.places_.size() <= kMostClasses);
}

void TargetColumn::join(const TargetColumn& part) {
  rows_ += part.rows_;
  if (part.places_.empty()) return;
  std::vector<double> places(part.places_.size());
  for (const auto& [text, place] : part.places_) {
    const auto own = static_cast<std::size_t>(place - part.first_place_);
    const Place joined = place_of(text);
    places[own] = joined.number;
    if (joined.is_new && kind_ == Kind::few_numbers) numbers_.push_back(part.numbers_[own]);
  }
  for (Index row = 0; row < part.rows_; ++row) {
    const auto own = static_cast<Index>(part.first_[row]) - part.first_place_;
    if (own >= 0) part.first_[row] = places[static_cast<std::size_t>(own)];
  }
  has_fraction_ |= part.has_fraction_;
  has_identifier_ |= part.has_identifier_;
  if (kind_ == Kind::few_numbers) forget_many();
}

TargetColumn::Place TargetColumn::place_of(const std::string& text) {
  if (whole_ != nullptr) {
    const auto found = whole_->places_.find(text);
    if (found != whole_->places_.end()) return {static_cast<double>(found->second), false};
  }
  const auto [place, is_new] = places_.try_emplace(text, first_place_ + static_cast<Index>(places_.size()));
  return {static_cast<double>(place->second), is_new};
}

void TargetColumn::append(double value) {
  if (whole_ == nullptr && rows_ == values_.size()) reserve(1024);
  first_[rows_++] = value;
}

std::string TargetColumn::append_label(const std::string& label) {
  const Place place = place_of(label);
  if (place.is_new && places_.size() > kMostClasses) {
    return fmt::format("at most {} different classes in the target", kMostClasses);
  }
  if (place.is_new && !is_utf8(label)) return "a class in UTF-8 (save the file as UTF-8)";
  append(place.number);
  return {};
}

std::string TargetColumn::add_number(const std::string& text, double value) {
  if (kind_ == Kind::many_numbers) {
    append(value);
    return {};
  }
  if (kind_ == Kind::classes) {
    // Nothing but missing values so far: then this is a quantity with gaps.
    const bool is_quantity = !has_word_ && !is_whole(value);
    return is_quantity ? "a class as in the lines above" : append_label(text);
  }
  const Place place = place_of(text);
  append(place.number);
  if (!place.is_new) return {};
  numbers_.push_back(value);
  has_fraction_ |= !is_whole(value);
  has_identifier_ |=
      std::abs(value) >= kLargestExactNumber && text.find_first_not_of("+-0123456789") == std::string::npos;
  if (whole_ == nullptr) forget_many();
  return {};
}

std::string TargetColumn::add_text(const std::string& text) {
  const bool is_missing = is_missing_word(text);
  const bool is_first_text = kind_ == Kind::few_numbers;
  const bool has_rows = rows_ > 0 || has_rows_above_;
  const bool is_slip = kind_ == Kind::many_numbers || (is_first_text && has_rows && is_missing);
  if (is_slip) return "a number as in the lines above";
  if (is_first_text && whole_ != nullptr) return "what the lines above tell";
  kind_ = Kind::classes;
  has_word_ |= !is_missing;
  return append_label(text);
}

bool TargetColumn::are_many(std::size_t numbers, bool has_fraction) {
  return numbers > (has_fraction ? kMostFractions : kMostClasses);
}

void TargetColumn::forget_many() {
  if (are_many(numbers_.size(), has_fraction_)) forget_texts();
}

void TargetColumn::forget_texts() {
  kind_ = Kind::many_numbers;
  for (double& value : values_.head(rows_)) value = numbers_[static_cast<std::size_t>(value)];
  places_ = {};
  numbers_ = {};
}

TargetColumn::State TargetColumn::state() const {
  State state{kind_, rows_ > 0 || has_rows_above_, has_fraction_, has_identifier_, has_word_, {}, numbers_};
  state.texts.resize(places_.size());
  for (const auto& [text, place] : places_) state.texts[static_cast<std::size_t>(place)] = text;
  return state;
}

void TargetColumn::begin_below(const State& above) {
  kind_ = above.kind;
  has_rows_above_ = above.has_rows;
  has_fraction_ = above.has_fraction;
  has_identifier_ = above.has_identifier;
  has_word_ = above.has_word;
  numbers_ = above.numbers;
  places_.clear();
  for (const std::string& text : above.texts) place_of(text);
}

void TargetColumn::unite(const State& all) {
  if (all.kind == Kind::many_numbers) {
    if (kind_ == Kind::few_numbers) forget_texts();
  } else {
    std::vector<std::string> own = state().texts;
    begin_below(all);
    for (double& value : values_.head(rows_)) value = place_of(own[static_cast<std::size_t>(value)]).number;
  }
  begin_below(all);
}

bool TargetColumn::State::can_go_on_with(const State& part) const {
  if (!has_rows || !part.has_rows) return true;
  const bool words = kind == Kind::classes && has_word;
  if (part.kind == Kind::many_numbers) return kind != Kind::classes;
  if (part.kind == Kind::few_numbers && kind != Kind::classes) return true;
  return words && texts.size() + part.texts.size() <= kMostClasses;
}

void TargetColumn::State::go_on_with(const State& part) {
  if (!part.has_rows) return;
  if (!has_rows) {
    *this = part;
    return;
  }
  has_fraction |= part.has_fraction;
  has_identifier |= part.has_identifier;
  has_word |= part.has_word;
  if (part.kind == Kind::many_numbers) kind = Kind::many_numbers;
  std::unordered_set<std::string> known(texts.begin(), texts.end());
  for (std::size_t i = 0; i < part.texts.size() && kind != Kind::many_numbers; ++i) {
    if (!known.insert(part.texts[i]).second) continue;
    texts.push_back(part.texts[i]);
    if (kind == Kind::few_numbers) numbers.push_back(part.numbers[i]);
  }
  if (kind == Kind::few_numbers && are_many(numbers.size(), has_fraction)) kind = Kind::many_numbers;
  if (kind == Kind::many_numbers) texts.clear(), numbers.clear();
}

void TargetColumn::sort_labels(Table& table) {
  for (const auto& entry : places_) table.labels.push_back(entry.first);
  std::sort(table.labels.begin(), table.labels.end());
  std::vector<double> sorted_place(places_.size());
  for (std::size_t i = 0; i < sorted_place.size(); ++i) {
    sorted_place[static_cast<std::size_t>(places_[table.labels[i]])] = static_cast<double>(i);
  }
  for (double& value : values_) value = sorted_place[static_cast<std::size_t>(value)];
}

void TargetColumn::finish(Table& table) && {
  if (kind_ == Kind::few_numbers && has_identifier_ && numbers_.size() <= kMostNumberedClasses) kind_ = Kind::classes;
  if (kind_ == Kind::few_numbers) forget_texts();
  values_.conservativeResize(rows_);
  if (kind_ == Kind::classes) sort_labels(table);
  table.target = std::move(values_);
}

}  // namespace lipschitzlr::data

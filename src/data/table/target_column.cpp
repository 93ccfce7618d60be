#include "data/table/target_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
  if (rows > values_.size()) values_.conservativeResize(rows);
}

void TargetColumn::append(double value) {
  if (rows_ == values_.size()) values_.conservativeResize(rows_ + rows_ / 2 + 1024);
  values_[rows_++] = value;
}

std::string TargetColumn::append_label(const std::string& label) {
  const auto [place, is_new] = places_.try_emplace(label, static_cast<Index>(places_.size()));
  if (is_new && places_.size() > kMostClasses) {
    return fmt::format("at most {} different classes in the target", kMostClasses);
  }
  if (is_new && !is_utf8(label)) return "a class in UTF-8 (save the file as UTF-8)";
  append(static_cast<double>(place->second));
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
  const auto [place, is_new] = places_.try_emplace(text, static_cast<Index>(places_.size()));
  append(static_cast<double>(place->second));
  if (!is_new) return {};
  numbers_.push_back(value);
  has_fraction_ |= !is_whole(value);
  has_identifier_ |=
      std::abs(value) >= kLargestExactNumber && text.find_first_not_of("+-0123456789") == std::string::npos;
  if (numbers_.size() > (has_fraction_ ? kMostFractions : kMostClasses)) forget_texts();
  return {};
}

std::string TargetColumn::add_text(const std::string& text) {
  const bool is_missing = is_missing_word(text);
  const bool is_slip = kind_ == Kind::many_numbers || (kind_ == Kind::few_numbers && rows_ > 0 && is_missing);
  if (is_slip) return "a number as in the lines above";
  kind_ = Kind::classes;
  has_word_ |= !is_missing;
  return append_label(text);
}

void TargetColumn::forget_texts() {
  kind_ = Kind::many_numbers;
  for (double& value : values_.head(rows_)) value = numbers_[static_cast<std::size_t>(value)];
  places_ = {};
  numbers_ = {};
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

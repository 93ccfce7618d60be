#include "data/target_column.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/number.hpp"

namespace lipschitzlr::data {
namespace {

constexpr std::size_t kMostClasses = 1 << 16;

std::string number_label(double value) { return fmt::format("{}", value + 0.0); }

}  // namespace

void TargetColumn::reserve(Index rows) {
  if (rows > values_.size()) values_.conservativeResize(rows);
}

void TargetColumn::append(double value) {
  if (rows_ == values_.size()) values_.conservativeResize(rows_ + rows_ / 2 + 1024);
  values_[rows_++] = value;
}

std::string TargetColumn::append_label(const std::string& label) {
  const auto [place, is_new] = labels_.try_emplace(label, static_cast<Index>(labels_.size()));
  if (is_new && labels_.size() > kMostClasses) {
    return fmt::format("at most {} different classes in the target", kMostClasses);
  }
  append(static_cast<double>(place->second));
  return {};
}

std::string TargetColumn::add_number(double value) {
  const bool is_whole = value == std::floor(value);
  if (!labels_.empty()) return is_whole ? append_label(number_label(value)) : "a class as in the lines above";
  has_fraction_ |= !is_whole;
  append(value);
  return {};
}

std::string TargetColumn::add_text(const std::string& text) {
  if (labels_.empty() && rows_ > 0) {
    if (has_fraction_ || is_missing_word(text)) return "a number as in the lines above";
    make_labels();
    if (labels_.size() > kMostClasses) return "a number as in the lines above";
  }
  return append_label(text);
}

void TargetColumn::make_labels() {
  for (Index row = 0; row < rows_ && labels_.size() <= kMostClasses; ++row) {
    const auto next = static_cast<Index>(labels_.size());
    values_[row] = static_cast<double>(labels_.try_emplace(number_label(values_[row]), next).first->second);
  }
}

void TargetColumn::finish(Table& table) && {
  values_.conservativeResize(rows_);
  for (const auto& entry : labels_) table.labels.push_back(entry.first);
  std::sort(table.labels.begin(), table.labels.end());
  std::vector<double> place(labels_.size());
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[static_cast<std::size_t>(labels_[table.labels[i]])] = static_cast<double>(i);
  }
  if (!place.empty()) {
    for (double& value : values_) value = place[static_cast<std::size_t>(value)];
  }
  table.target = std::move(values_);
}

}  // namespace lipschitzlr::data

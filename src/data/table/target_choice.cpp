#include "data/table/target_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.hpp"
#include "data/table/column_plan.hpp"
#include "data/table/read_error.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(Fault::usage, fmt::format("{}: {}", file, what));
}

}  // namespace

TargetChoice::TargetChoice(const ReadOptions& options, const std::vector<std::string>& first_line,
                           const std::string& file)
    : has_target_(options.has_target),
      may_be_missing_(options.target_may_be_missing),
      features_(options.columns),
      place_(options.target_column >= 0 && options.target_column <= options.columns ? options.target_column
                                                                                    : options.columns),
      first_line_(first_line),
      file_(file) {
  if (!options.has_target || !options.target) return;
  name_ = &*options.target;
  if (!may_be_missing_) number_ = number_from<Index>(name_->substr(name_->starts_with('+') ? 1 : 0));
}

Index TargetChoice::by_position() const {
  const auto columns = static_cast<Index>(first_line_.size());
  if (has_target_ && may_be_missing_) return columns == features_ + 1 ? place_ : -1;
  if (!has_target_ || is_by_name()) return -1;
  const Index number = number_.value_or(-1);
  if (number == 0 || number > columns || number < -columns) return -1;
  return number > 0 ? number - 1 : columns + number;
}

Index TargetChoice::find_name() const {
  const auto first = std::find(first_line_.begin(), first_line_.end(), *name_);
  if (first == first_line_.end()) return -1;
  const auto second = std::find(first + 1, first_line_.end(), *name_);
  if (second != first_line_.end()) {
    refuse(file_, fmt::format("columns {} and {} are both named {}: give the target's number",
                              first - first_line_.begin() + 1, second - first_line_.begin() + 1, in_quotes(*name_)));
  }
  return first - first_line_.begin();
}

Index TargetChoice::find(bool has_header) const {
  if (!has_target_) return -1;
  Index column = name_ != nullptr && has_header ? find_name() : -1;
  if (column < 0 && !(has_header && may_be_missing_)) column = by_position();
  if (column < 0 && !may_be_missing_) fail_unknown(has_header);
  return column;
}

void TargetChoice::fail_unknown(bool has_header) const {
  if (number_) {
    refuse(file_, fmt::format("there is no column {}: columns are numbered 1 to {}, or -1 to -{} from the end",
                              *number_, first_line_.size(), first_line_.size()));
  }
  if (!has_header) {
    refuse(file_, fmt::format("there is no column {}, for the file has no header: give the target's number",
                              in_quotes(*name_)));
  }
  refuse(file_, fmt::format("there is no column {}: {}", in_quotes(*name_), column_advice(*name_, first_line_)));
}

}  // namespace lipschitzlr::data

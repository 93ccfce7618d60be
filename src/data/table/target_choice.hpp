#pragma once
// Which column the user means by ReadOptions.target: a name in the header, or a number from 1, negative from the end.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

class TargetChoice {
 public:
  // All of these must outlive this.
  TargetChoice(const ReadOptions& options, const std::vector<std::string>& first_line, const std::string& file);

  // Only a header can tell what is meant.
  bool needs_header() const { return is_by_name() && !may_be_missing_; }

  // The column if there is no header: -1 for none, for a name, and for a number out of range.
  Index by_position() const;

  // The column, or -1 when the table has no target; a name wins over a number. Throws Error (usage) when it isn't
  // there.
  Index find(bool has_header) const;

 private:
  bool is_by_name() const { return name_ != nullptr && !number_; }
  Index find_name() const;  // -1: not there
  [[noreturn]] void fail_unknown(bool has_header) const;

  bool has_target_;
  bool may_be_missing_;
  Index features_;  // of the model, when the target may be missing
  Index place_;     // of the target beside them, in a file without a header
  const std::string* name_ = nullptr;
  std::optional<Index> number_;
  const std::vector<std::string>& first_line_;
  const std::string& file_;
};

}  // namespace lipschitzlr::data

#pragma once
// Which column the user means by ReadOptions.target: a name in the header, or a number from 1, negative from the end.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/data/read.hpp"

namespace lipschitzlr::data {

class TargetChoice {
 public:
  // All of these must outlive this.
  TargetChoice(const ReadOptions& options, const std::vector<std::string>& first_line, const std::string& file);

  // Only a header can tell what is meant.
  bool is_by_name() const { return name_ != nullptr && !number_; }

  // The column if what was given is a number: -1 for none and for one that is out of range.
  Index by_number() const;

  // The column, or -1 when the table has no target; a name wins over a number. Throws Error (usage) when it isn't
  // there.
  Index find(bool has_header) const;

 private:
  Index find_name() const;  // -1: not there
  [[noreturn]] void fail_unknown(bool has_header) const;

  bool has_target_;
  const std::string* name_ = nullptr;
  std::optional<Index> number_;
  const std::vector<std::string>& first_line_;
  const std::string& file_;
};

}  // namespace lipschitzlr::data

#pragma once
// Which columns of a file are read, and what is known of them: ReadOptions.ignore, only and known, by the names of a
// header or by number.

#include <string>
#include <vector>

#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

struct ColumnPlan {
  bool skipped = false;
  const KnownColumn* known = nullptr;  // in the options, which must outlive this
};

// One for each column; target: -1 for none. Throws Error (usage) for a column that is not there, or is the target.
std::vector<ColumnPlan> plan_columns(const std::vector<std::string>& names, bool has_header, Index target,
                                     const ReadOptions& options, const std::string& file);

// The end of a message on a name that is not there: the one that was meant, else the first few.
std::string column_advice(const std::string& wanted, const std::vector<std::string>& names);

// Names of the features: the header's, or x and the number among the features, with as many underscores as no other
// name has. Skipped ones count and are left out.
std::vector<std::string> names_of_features(const std::vector<std::string>& names, const std::vector<ColumnPlan>& plans,
                                           Index target);

}  // namespace lipschitzlr::data

#pragma once
// The results of a table's rows as a table for the screen, as JSON and as CSV (one line per training). Nothing in them
// depends on the time of day, the speed or the number of threads.

#include <string>
#include <vector>

#include "lipschitzlr/experiment/runner.hpp"

namespace lipschitzlr::experiment {

// What to_json says of accuracies taken on rows that were not trained on.
inline constexpr const char* kHeldOut = "rows held out";

// At most 100 characters a line: the table, then what there is to say about each row.
std::string to_text(const std::vector<RowResult>& results, const RunLimits& limits);
std::string to_json(const std::vector<RowResult>& results, const RunLimits& limits);
std::string to_csv(const std::vector<RowResult>& results);

// All recipes, those of networks too: what they need, what the paper says, whether the data are at hand, and how far
// the records in a folder got.
std::string list_text(const std::string& records);
std::string list_json(const std::string& records);

}  // namespace lipschitzlr::experiment

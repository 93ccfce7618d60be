#pragma once
// A row of Tables 1 and 2 among the records: what --json prints of it, in a file of its own, so that a later call need
// not run it again. The figures are kept, the verdict is computed anew.

#include <optional>
#include <string>

#include "lipschitzlr/experiment/runner.hpp"

namespace lipschitzlr::experiment {

std::string row_record(const std::string& folder, const Recipe& recipe);  // FOLDER/table1-boston.json

// The row as far as it was measured with these limits but for the time, from a record of as many seeds or more; none
// when the file is not there, damaged or of other limits.
std::optional<RowResult> read_row(const std::string& folder, const Recipe& recipe, const RunLimits& limits);

void write_row(const std::string& folder, const RowResult& result, const RunLimits& limits);

}  // namespace lipschitzlr::experiment

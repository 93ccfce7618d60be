#pragma once
// Rows on linear models as JSON: what `reproduce table1 --json` prints and what write_row() keeps. Verdicts in a file
// of an older version are not read: they are computed from the trainings.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/row.hpp"

namespace lipschitzlr::experiment {

inline constexpr const char* kHeldOut = "rows held out";  // where accuracies are taken on rows not trained on

struct RowFile {
  std::vector<Row> rows;            // their recipes have table and name only
  std::vector<std::string> faults;  // sentences
  bool something_else = false;      // JSON, but of another kind
};

RowFile read_row_file(const std::string& path);

// The rows of one table, at least one.
nlohmann::ordered_json table_json(const std::vector<Row>& rows);

}  // namespace lipschitzlr::experiment

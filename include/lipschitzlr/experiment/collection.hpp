#pragma once
// Everything that was measured, found under the paths a user names: a folder that is a record, a folder of such folders
// at any depth, a file that `reproduce --json` wrote, and beside them the speeds that `reproduce` measured. Each file
// is read once. What is named and is none of these is kept as a missing or damaged record, so that a page can say so.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/limits.hpp"
#include "lipschitzlr/experiment/row.hpp"
#include "lipschitzlr/run/network_speed.hpp"

namespace lipschitzlr::experiment {

struct Collection {
  std::vector<run::Record> records;  // in the order of the paths, then of their names; none twice
  std::vector<Row> measured;         // rows on linear models; their recipes have table and name only
  std::vector<run::NetworkSpeed> speeds;
};

Collection collect(const std::vector<std::string>& paths);

// The recipes with what was measured for each; of a row in several files, the last counts. The rows of networks point
// into the collection.
std::vector<Row> rows_of(const std::vector<Recipe>& recipes, const Collection& collection);

// The recipe of table3 or comparison that a record is a training of; nullptr when there is none.
const Recipe* recipe_of(const run::Record& record);

// A row on a linear model as far as it was measured with these limits but for the time, from a file of as many seeds or
// more; none when there is no such file.
std::optional<Row> measured_row(const Collection& collection, const Recipe& recipe, const Limits& limits);

// Writes the row to a file of its own, FOLDER/table1-boston.json, so that a later call need not measure it again.
void write_row(const std::string& folder, const Row& row);

}  // namespace lipschitzlr::experiment

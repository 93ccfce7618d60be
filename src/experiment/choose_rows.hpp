#pragma once
// The rows of a table by their names, of whatever kind the rows are.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {

// All of the table when none is named. Throws Error (usage) listing the names when there is no such row.
template <class Row>
std::vector<Row> choose_rows(const std::vector<Row>& rows, const std::string& table,
                             const std::vector<std::string>& names) {
  std::vector<Row> chosen;
  std::vector<std::string> known;
  for (const Row& row : rows) {
    if (row.table != table) continue;
    known.push_back(row.name);
    if (names.empty() || std::find(names.begin(), names.end(), row.name) != names.end()) chosen.push_back(row);
  }
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(Fault::usage,
                fmt::format("{} has no row \"{}\"; its rows are {}", table, name, fmt::join(known, ", ")));
  }
  if (known.empty()) throw Error(Fault::usage, fmt::format("there are no recipes for \"{}\"", table));
  return chosen;
}

}  // namespace lipschitzlr::experiment

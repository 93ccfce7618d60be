#pragma once
// The network trainings among the records, each with the row of the paper it repeats and the authors' curve of that
// row.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_verdict.hpp"
#include "lipschitzlr/report/collection.hpp"

namespace lipschitzlr::report {

struct NetworkRun {
  const RunRecord* record = nullptr;
  int source = 0;                                     // its place among the runs
  const experiment::NetworkRecipe* recipe = nullptr;  // of table3; nullptr: the paper has no such row
  const experiment::Curve* curve = nullptr;           // nullptr: the authors left none
};

std::vector<NetworkRun> network_runs(const Collection& collection);

// The same records as experiment/ reads them, to be judged.
std::vector<run::NetworkRecord> records_to_judge(const Collection& collection);

// Hours that all epochs of a row take, by the seconds per epoch of a record of the same network and policy, else by the
// speed that was measured for it; none without either.
std::optional<double> hours_of(const experiment::NetworkRecipe& recipe, const std::vector<run::NetworkRecord>& records,
                               const std::vector<experiment::NetworkSpeed>& speeds);

}  // namespace lipschitzlr::report

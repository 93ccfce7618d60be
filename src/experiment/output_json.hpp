#pragma once
// The pieces of JSON that `reproduce` prints.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_runner.hpp"

namespace lipschitzlr::experiment {

nlohmann::ordered_json recipe_json(const Recipe& recipe);
nlohmann::ordered_json runs_json(const Row& network_row, const std::string& protocol);

// Rows of one table on linear models, and rows on networks with their tasks, with verdicts and reasons.
nlohmann::ordered_json judged_json(const std::vector<Row>& rows);
nlohmann::ordered_json judged_json(const std::vector<Row>& rows, const std::vector<NetworkTask>& tasks);

}  // namespace lipschitzlr::experiment

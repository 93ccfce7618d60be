#pragma once
// The figures of a network's classes in the JSON of its evaluation.

#include <nlohmann/json.hpp>

#include "lipschitzlr/linear/evaluation.hpp"

namespace lipschitzlr::run {

// What the object does not have yet, except the number of rows: it counts images.
void add_figures(nlohmann::ordered_json& object, const linear::Evaluation& figures);

}  // namespace lipschitzlr::run

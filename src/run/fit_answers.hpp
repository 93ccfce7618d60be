#pragma once
// Reads what a fit says of its coefficients and its test rows out of summary.json (run/record.hpp).

#include <nlohmann/json.hpp>

#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::run {

// False when something there is not what a fit writes; what could be read before it is kept. Never throws.
bool read_answers(const nlohmann::json& summary, FitAnswers& answers);

}  // namespace lipschitzlr::run

#pragma once
// What the commands print for people: constants, trainings, metrics. At most 100 columns wide.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/run/constants.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {

void show_constants(const run::ConstantsReport& report);
// The same as a JSON object.
std::string constants_json(const run::DataChoice& choice, const run::Prepared& prepared,
                           const run::ConstantsReport& report);
void show_training(const run::TrainingResult& result);
// One column, or two when there are test rows.
void show_metrics(linear::Family family, const linear::Metrics& rows, const std::optional<linear::Metrics>& test);
// Where it is wider than 100 columns, a line that says so.
void show_confusion(const linear::Metrics& metrics, const std::vector<std::string>& labels);

}  // namespace lipschitzlr::app

#pragma once
// What the commands print for people: constants, trainings, metrics. At most 100 columns wide.

#include <optional>

#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/run/constants.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {

void show_constants(const run::ConstantsReport& report);
void show_training(const run::TrainingResult& result);
// One column, or two when there are test rows.
void show_metrics(linear::Family family, const linear::Metrics& rows, const std::optional<linear::Metrics>& test);
void show_confusion(const linear::Metrics& metrics, const std::vector<std::string>& labels);

}  // namespace lipschitzlr::app

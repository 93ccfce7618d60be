#pragma once
// The account of a training as JSON: the setting (what was asked; a resumed run must ask the same) and the outcome.

#include <nlohmann/json.hpp>
#include <string>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::run {

nlohmann::json setting_of(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                          const linear::SolverOptions& options);
// Indented by one. Names of files may be any bytes: what is not UTF-8 is replaced.
std::string to_text(const nlohmann::json& object);
nlohmann::json account_of(const nlohmann::json& setting, const TrainingResult& result);

// Throws Error (usage) naming the first setting in which the two differ: going on would give neither run's result.
void check_same_setting(const nlohmann::json& before, const nlohmann::json& now, const std::string& path);

// The state a model file holds, as JSON, for a run of the same setting.
std::string resume_text(const std::string& path, const nlohmann::json& setting);

// Collective: throws Error in every process of the team unless all have the same data and were asked the same.
void expect_same_training(Communicator& communicator, const DataChoice& data, const Prepared& prepared,
                          const TrainingChoice& choice);

}  // namespace lipschitzlr::run

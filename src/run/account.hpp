#pragma once
// The account of a training as JSON: the setting (what was asked; a resumed run must ask the same) and the outcome.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/model.hpp"
#include "lipschitzlr/linear/state.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::run {

nlohmann::json setting_of(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                          const linear::SolverOptions& options);
// Indented by one. Names of files may be any bytes: what is not UTF-8 is replaced.
std::string to_text(const nlohmann::json& object);
nlohmann::json account_of(const nlohmann::json& setting, const TrainingResult& result);

// Throws Error (usage) naming the first setting in which the two differ: going on would give neither run's result.
void check_same_setting(const nlohmann::json& before, const nlohmann::json& now, const std::string& path);

template <class Scalar>
linear::State<Scalar> resume_state(const std::string& path, const nlohmann::json& setting) {
  const linear::Model model = linear::load_model(path);
  if (model.resume.empty()) {
    throw Error(Fault::usage, fmt::format("{}: this training ended by itself; there is nothing to resume", path));
  }
  const auto resume = nlohmann::json::parse(model.resume);
  if (!resume.is_object() || !resume.value("setting", nlohmann::json()).is_object() || !resume.contains("state")) {
    throw Error(Fault::data, fmt::format("{}: the state to resume from is damaged; fit again without --resume", path));
  }
  check_same_setting(resume["setting"], setting, path);
  linear::State<Scalar> state = linear::state_from_json<Scalar>(resume["state"].dump(), path);
  if (state.weights.size() == 0) throw Error(Fault::data, fmt::format("{}: there are no weights to resume from", path));
  return state;
}

}  // namespace lipschitzlr::run

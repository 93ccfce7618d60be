#pragma once
// A fit as JSON: its setting (what was asked, and what was filled in by the data) and its summary.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/run/fit.hpp"

namespace lipschitzlr::run {

// Every option that a resumed run must share, and the rows. The options are those of the solver: rate, batch and seed
// filled in. Collective.
nlohmann::json setting_of(FitRequest options, const Prepared& prepared, Communicator* communicator = nullptr);
// That the training has not converged, or has learnt no more than a constant; each with what to do.
std::vector<std::string> warnings_of(const FitResult& result);
nlohmann::json summary_of(const nlohmann::json& setting, const FitResult& result);
// The same for a model file: without what is drawn of the test rows.
nlohmann::json without_curves(nlohmann::json summary);

// Indented by one. Names of files may be any bytes: what is not UTF-8 is replaced.
std::string to_text(const nlohmann::json& object);

// The solver's state in a model file, as JSON, for a run of the same setting. Throws Error (usage) naming the first
// setting in which the two differ: continuing would give neither run's result.
std::string state_to_resume(const std::string& path, const nlohmann::json& setting);

// The lambda of the penalty (linear::with_elastic_net) that the run in a model file has. Throws Error as
// state_to_resume does.
double lambda_to_resume(const std::string& path, double l1_share);

// Of the training rows of all processes: features, targets and weights. Collective.
std::string fingerprint(const Prepared& prepared, Communicator* communicator = nullptr);
// Of a table that every process has.
std::string fingerprint(const data::Table& table);

// Collective: throws Error in every process unless all have the same options.
void expect_same_fit(Communicator& communicator, FitRequest options, const Prepared& prepared);

}  // namespace lipschitzlr::run

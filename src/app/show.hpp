#pragma once
// What the commands print: constants, trainings, metrics. At most 100 columns wide.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/linear/evaluation.hpp"
#include "lipschitzlr/run/fit.hpp"
#include "lipschitzlr/run/progress.hpp"
#include "lipschitzlr/run/rate_report.hpp"

namespace lipschitzlr::app {

void show_rates(const run::RateReport& report);
nlohmann::ordered_json rates_json(const run::DataOptions& options, const run::Prepared& prepared,
                                  const run::RateReport& report);
// On standard error, what the reader of a table decided and a user might not expect.
void show_remarks(const data::Table& table);

void show_fit(const run::FitResult& result);
// Everything of an evaluation; rows says of what: "150 test rows". The most important figures come first, long tables
// are cut with a remark.
void show_evaluation(const linear::Evaluation& result, const std::string& rows);
// Its tables alone: figures by class, true and predicted classes, quantiles of the error.
void show_tables(const linear::Evaluation& result);

// How much progress a training shows. Throws Error (usage) when nothing is to be shown, and plots are.
run::Verbosity verbosity_of(bool silent, bool watch);

// The folder of downloaded data; where there is none, how to get one.
std::string shown_cache_folder();

}  // namespace lipschitzlr::app

#include "app/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::app {
namespace {

constexpr std::size_t kFormulaColumn = 59;  // of the table of constants

void show_row(const char* name, const std::string& rows, const std::optional<std::string>& test) {
  fmt::print("  {:<28} {:>14} {:>14}\n", name, rows, test.value_or(""));
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string number(double value) { return fmt::format("{:.6g}", value); }

template <class Format>
void show_field(const char* name, double linear::Metrics::*field, const linear::Metrics& rows,
                const std::optional<linear::Evaluation>& test, Format&& format) {
  show_row(name, format(rows.*field), test ? std::optional(format((*test).*field)) : std::nullopt);
}

// One column, or two when there are test rows.
void show_metrics(linear::Family family, const linear::Metrics& rows, const std::optional<linear::Evaluation>& test) {
  using linear::Metrics;
  show_row("", fmt::format("{} rows", rows.rows),
           test ? std::optional(fmt::format("{} test", test->rows)) : std::nullopt);
  if (family == linear::Family::linear) {
    show_field("R^2", &Metrics::r2, rows, test, number);
    show_field("root mean square error", &Metrics::rmse, rows, test, number);
    show_field("mean absolute error", &Metrics::mae, rows, test, number);
  } else {
    show_field("accuracy", &Metrics::accuracy, rows, test, percent);
    show_field("accuracy of the majority", &Metrics::majority_accuracy, rows, test, percent);
  }
  show_field("loss", &Metrics::loss, rows, test, number);
  show_field("loss of the best constant", &Metrics::constant_loss, rows, test, number);
  if (!test || family == linear::Family::linear) return;
  const auto optional = [](const std::optional<double>& value) { return value ? number(*value) : "-"; };
  show_row("balanced accuracy", "", percent(test->balanced_accuracy));
  show_row("ROC-AUC", "", optional(test->auc));
  show_row("average precision", "", optional(test->average_precision));
  show_row("Brier score", "", number(test->brier));
  show_row("calibration error", "", number(test->calibration_error));
}

std::string claim(const linear::RunChecks& checks) {
  if (checks.claimed_bound == 0) return "none is claimed by this rate";
  if (checks.bound_exceeded == 0) {
    return fmt::format("held: largest gradient {:.6g}, claimed {:.6g}", checks.largest_gradient, checks.claimed_bound);
  }
  return fmt::format("EXCEEDED {} times: largest gradient {:.6g}, claimed {:.6g}", checks.bound_exceeded,
                     checks.largest_gradient, checks.claimed_bound);
}

void show_penalty(const run::ChosenPenalty& chosen) {
  const linear::PenaltyPath& path = chosen.path;
  const linear::PathPoint &best = path.points[path.best], &sparing = path.points[path.sparing];
  const std::string how = path.folds == 1 ? "on a fifth of the rows, held out" : fmt::format("in {} folds", path.folds);
  const std::string end = path.best + 1 == path.points.size() ? "the smallest that was tried; " : "";
  fmt::print("{}", wrap("penalty: ", fmt::format("{} {:.4g}, of {} values the one with the lowest loss {}: {:.5g}; "
                                                 "{}{:.4g} is within one standard error ({:.3g}); chosen in {:.3g} s",
                                                 chosen.flags, best.lambda, path.points.size(), how, best.loss, end,
                                                 sparing.lambda, best.standard_error, chosen.seconds)));
}

void show_checks(const linear::RunChecks& checks, bool takes_rate) {
  fmt::print("checks\n");
  fmt::print("  {:<28} {} of {}\n", "steps that raised the loss", checks.rises,
             std::max<std::int64_t>(0, checks.measurements - 1));
  if (takes_rate) fmt::print("{}", wrap(fmt::format("  {:<28} ", "bound on the gradient"), claim(checks)));
  if (checks.descent_promised > 0) {
    fmt::print("  {:<28} kept in {} of {} steps\n", "promised descent", checks.descent_promised - checks.descent_missed,
               checks.descent_promised);
  }
  fmt::print("  {:<28} {}\n", "losses that were not finite", checks.not_finite);
}

void show_matrix(const run::RateReport& report) {
  if (!report.matrix) {
    fmt::print("\nmatrix: not computed for more than {} columns\n", run::kLargestMatrix);
    return;
  }
  const run::ReportedMatrix& matrix = *report.matrix;
  const std::string condition =
      matrix.rank < matrix.size
          ? fmt::format("rank {} of {}: some columns are sums of others, and steps are those of the least norm",
                        matrix.rank, matrix.size)
          : fmt::format("condition number {:.3g}", matrix.condition);
  fmt::print("\nmatrix: B has {}\n", condition);
  fmt::print("{}", wrap("  ", fmt::format("a step w - B^-1 g lowers the loss by at least g'B^-1 g / 2: from zero by "
                                          "{:.4g}, where 1/beta promises {:.4g}",
                                          matrix.promised, report.promised)));
}

}  // namespace

void show_rates(const run::RateReport& report) {
  const bool long_formulas = std::any_of(report.constants.begin(), report.constants.end(), [](const auto& reported) {
    return kFormulaColumn + reported.constant.formula.size() > kTextWidth;
  });
  // A formula too long for its column makes all of them stand on lines of their own.
  const std::string before = long_formulas ? "\n           = " : "  ";
  fmt::print("{:<10} {:>12} {:>12} {:>20}{}{}\n", "constant", "L", "rate = 1/L",
             fmt::format("loss in {} steps", report.trial_steps), long_formulas ? "" : "  ",
             long_formulas ? "" : "formula of L");
  for (const run::ReportedConstant& reported : report.constants) {
    const bound::Constant& constant = reported.constant;
    fmt::print("{:<10} {:>12.6g} {:>12.6g} {:>20.6g}{}{}\n", constant.name, constant.value, constant.rate(),
               reported.trial_loss, before, constant.formula);
  }
  if (report.matrix) {
    fmt::print("{:<10} {:>12} {:>12} {:>20.6g}{}{}\n", "matrix", "B", "B^-1", report.matrix->trial_loss, before,
               report.matrix->formula);
  }
  std::vector<std::string> inputs;
  for (const bound::Input& input : report.inputs)
    inputs.push_back(fmt::format("{} = {:.6g}", input.symbol, input.value));
  fmt::print("\n{}", wrap_items("with  ", inputs, "  "));
  show_matrix(report);
  fmt::print("\niteration bound of 1/beta: {:.0f} steps bring |gradient| from {:.4g} to {:.4g} or below\n",
             report.iterations, report.start_gradient_norm, std::sqrt(report.epsilon));
  fmt::print("  n >= 2 beta (f(0) - f*) / |gradient|^2, with f(0) = {:.6g} and f* >= {:.6g} (proven)\n",
             report.start_loss, report.loss_floor);
  fmt::print("\nadvice: {}, rate {:.8g} (for --solver gd; fit's default needs no rate)\n{}", report.advised,
             report.advised_rate, wrap("  ", report.reason));
}

nlohmann::ordered_json rates_json(const run::DataOptions& options, const run::Prepared& prepared,
                                  const run::RateReport& report) {
  using nlohmann::ordered_json;
  ordered_json object = {{"data", options.source},
                         {"rows", prepared.train.rows()},
                         {"columns", prepared.train.columns()},
                         {"model", to_string(prepared.setup.family)},
                         {"scale", data::to_string(prepared.scaler.kind)},
                         {"constants", ordered_json::array()}};
  for (const run::ReportedConstant& reported : report.constants) {
    ordered_json inputs = ordered_json::object();
    for (const bound::Input& input : reported.constant.inputs) inputs[input.symbol] = input.value;
    object["constants"].push_back({{"name", reported.constant.name},
                                   {"formula", reported.constant.formula},
                                   {"inputs", inputs},
                                   {"value", reported.constant.value},
                                   {"rate", reported.constant.rate()},
                                   {"loss_after_trial", reported.trial_loss}});
  }
  if (const auto& matrix = report.matrix) {
    object["matrix"] = {{"formula", matrix->formula},
                        {"size", matrix->size},
                        {"rank", matrix->rank},
                        {"condition", matrix->condition},
                        {"promised_descent", matrix->promised},
                        {"promised_descent_of_gradient", report.promised},
                        {"loss_after_trial", matrix->trial_loss}};
  }
  object["trial_steps"] = report.trial_steps;
  object["iteration_bound"] = {{"steps", report.iterations},
                               {"gradient_norm_at_start", report.start_gradient_norm},
                               {"gradient_norm_reached", std::sqrt(report.epsilon)},
                               {"loss_at_start", report.start_loss},
                               {"loss_floor", report.loss_floor}};
  object["advice"] = {{"constant", report.advised}, {"rate", report.advised_rate}, {"reason", report.reason}};
  return object;
}

void show_remarks(const data::Table& table) {
  for (const std::string& remark : table.remarks) print_stderr("lipschitzlr: {}\n", printable(remark));
}

void show_fit(const run::FitResult& result) {
  fmt::print("{}", wrap("solver: ", fmt::format("{}: {}", to_string(result.choice.solver), result.choice.reason)));
  if (result.chosen_penalty) show_penalty(*result.chosen_penalty);
  fmt::print("{}", wrap("", fmt::format("stopped after {}, {}, {:.3g} s: {}", counted(result.last.epoch, "epoch"),
                                        counted(result.last.step, "step"), result.seconds, to_string(result.stop))));
  fmt::print("{}", wrap("", result.verdict));
  if (const auto& kept = result.kept) {
    fmt::print("{}", wrap("early stopping: ",
                          fmt::format("kept the weights of epoch {}, with the lowest loss of {} held out: {:.5g}",
                                      kept->epoch, counted(kept->rows, "row"), kept->loss)));
  }
  if (result.l1 > 0) {
    fmt::print("weights: {} of {} are not 0\n", result.weights_not_zero,
               counted(result.model.scaler.features(), "feature"));
  }
  if (!result.rate_source.empty()) fmt::print("{}", wrap("rate: ", result.rate_source));
  if (!result.advice.empty()) fmt::print("{}", wrap("  ", "chosen because " + result.advice));
  show_metrics(result.model.family, result.train, result.test);
  if (result.test) {
    show_tables(*result.test);
    fmt::print("\n");
  }
  show_checks(result.checks, takes_rate(result.choice.solver));
  for (const std::string& remark : result.remarks) fmt::print("{}", wrap("note: ", remark));
  for (const std::string& warning : result.warnings) fmt::print("{}", wrap("warning: ", warning));
}

run::Verbosity verbosity_of(bool silent, bool watch) {
  if (silent && watch) {
    throw Error(Fault::usage, "--watch shows the training, of which --quiet and --json show nothing: leave one out");
  }
  return silent ? run::Verbosity::silent : run::default_verbosity();
}

std::string shown_cache_folder() {
  try {
    return data::catalogue::cache_folder();
  } catch (const Error&) {
    return "none (set HOME, XDG_CACHE_HOME or LIPSCHITZLR_DATA)";
  }
}

}  // namespace lipschitzlr::app

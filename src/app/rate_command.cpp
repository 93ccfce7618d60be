#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "lipschitzlr/run/constants.hpp"

namespace lipschitzlr::app {
namespace {

using nlohmann::ordered_json;

struct Options {
  run::DataChoice data;
  run::ConstantsChoice constants;
  bool json = false;
};

ordered_json as_json(const Options& options, const run::Prepared& prepared, const run::ConstantsReport& report) {
  ordered_json object = {{"data", options.data.source},
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
  object["trial_steps"] = report.trial_steps;
  object["iteration_bound"] = {{"steps", report.iterations},
                               {"gradient_norm_at_start", report.start_gradient_norm},
                               {"gradient_norm_reached", std::sqrt(report.epsilon)},
                               {"loss_at_start", report.start_loss},
                               {"lowest_loss_found", report.lowest_loss}};
  object["advice"] = {{"constant", report.advised}, {"rate", report.advised_rate}, {"reason", report.reason}};
  return object;
}

}  // namespace

void add_rate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("rate", "Print every Lipschitz constant of a problem and the rate it gives");
  auto options = std::make_shared<Options>();
  add_data_options(*command, options->data);
  command
      ->add_option("--reduction", options->constants.gradient_reduction,
                   "the iteration bound is for a gradient this many times smaller than at the start")
      ->check(CLI::Range(1.0, 1e12))
      ->capture_default_str()
      ->type_name("TIMES");
  add_threads_option(*command, options->constants.threads);
  add_json_option(*command, options->json);
  command->footer(
      "Examples:\n"
      "  lipschitzlr rate iris --scale none --no-intercept\n"
      "  lipschitzlr rate prices.csv --target price --scale sum\n"
      "  zcat big.csv.gz | lipschitzlr rate - --json");
  command->callback([options] {
    const run::Prepared prepared = run::prepare(options->data);
    const run::ConstantsReport report = run::report_constants(prepared, options->constants);
    if (options->json) {
      fmt::print("{}\n", as_json(*options, prepared, report).dump(2));
    } else {
      fmt::print("{}\n\n", describe(options->data, prepared));
      show_constants(report);
    }
  });
}

}  // namespace lipschitzlr::app

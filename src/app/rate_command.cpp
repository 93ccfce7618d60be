#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "lipschitzlr/run/constants.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  run::DataChoice data;
  run::ConstantsChoice constants;
  bool json = false;
};

}  // namespace

void add_rate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("rate", "Print every Lipschitz constant of a problem and the rate it gives");
  auto options = std::make_shared<Options>();
  add_data_options(*command, options->data);
  expect_number(command->add_option("--reduction", options->constants.gradient_reduction,
                                    "the iteration bound is for a gradient this many times smaller than at the start; "
                                    "default: 1000"),
                "a number from 1 to 1e12", [](double times) { return times >= 1 && times <= 1e12; })
      ->type_name("TIMES");
  add_threads_option(*command, options->constants.threads);
  add_json_option(*command, options->json);
  fold_help(*command);
  command->footer(
      "Examples:\n"
      "  lipschitzlr rate iris --scale none --no-intercept\n"
      "  lipschitzlr rate prices.csv --target price --scale sum\n"
      "  zcat big.csv.gz | lipschitzlr rate - --json");
  command->callback([options] {
    const run::Prepared prepared = run::prepare(options->data);
    const run::ConstantsReport report = run::report_constants(prepared, options->constants);
    if (options->json) {
      fmt::print("{}\n", constants_json(options->data, prepared, report));
    } else {
      fmt::print("{}\n\n", describe(options->data, prepared));
      show_constants(report);
    }
  });
}

}  // namespace lipschitzlr::app

#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/show.hpp"

namespace lipschitzlr::app {

Command rate_command() {
  struct State {
    run::RateOptions options;
    bool json = false;
  };
  const auto state = std::make_shared<State>();
  return {.name = "rate",
          .summary = "Print every Lipschitz constant of a problem and the rate it gives",
          .options = options_of(state->options) + run::Options{run::json_option(state->json)},
          .run =
              [state](const Call&) {
                run::DataOptions& data = state->options.data;
                data.read.threads = state->options.threads;
                const run::Prepared prepared = run::prepare(data);
                show_remarks(prepared.train);
                const run::RateReport report = run::report_rates(prepared, state->options);
                if (state->json) {
                  fmt::print("{}\n", rates_json(data, prepared, report).dump(2));
                } else {
                  fmt::print("{}\n\n", describe(data, prepared));
                  show_rates(report);
                }
                return 0;
              },
          .examples =
              "rate iris --scale none --no-intercept\n"
              "rate prices.csv --target price --scale sum\n"
              "rate big.csv.gz --json",
          .takes_config = true};
}

}  // namespace lipschitzlr::app

#include "app/commands.hpp"

namespace lipschitzlr::app {

Command front_program() {
  return {.name = "lipschitzlr",
          .summary = "Learning rates you compute instead of tune: rate = 1/L, L the Lipschitz constant of the loss.",
          .details =
              "Exit codes: 0 success, 2 usage error, 3 bad data, 4 training failed, 130 interrupted.\n"
              "`lipschitzlr COMMAND --help` explains a command.",
          .examples =
              "demo                                  a short tour on embedded data\n"
              "rate prices.csv --target price        every constant and the rate it gives\n"
              "fit prices.csv --target price -o model.json\n"
              "predict model.json new.csv\n"
              "inspect model.json                    coefficients and their standard errors\n"
              "train --data mnist                    a network; needs libtorch\n"
              "launch -n 2 -- train --data mnist     the same in two processes",
          .commands = {rate_command(), fit_command(), predict_command(), evaluate_command(), inspect_command(),
                       train_command(), launch_command(), data_command(), reproduce_command(), report_command(),
                       demo_command(), env_command()}};
}

}  // namespace lipschitzlr::app

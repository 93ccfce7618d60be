#include <fmt/format.h>

#include <array>
#include <cmath>

#include "app/commands.hpp"
#include "app/show.hpp"
#include "lipschitzlr/run/constants.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {
namespace {

constexpr std::int64_t kMostSteps = 200000;

void step(int number, const char* question, const char* command) {
  fmt::print("\n\033[1m{}. {}\033[0m\n$ {}\n\n", number, question, command);
}

void show_rates() {
  run::DataChoice data;
  data.source = "breast-cancer";
  const run::Prepared prepared = run::prepare(data);
  fmt::print("{}\n\n", describe(data, prepared));
  show_constants(report_constants(prepared, {}));
}

void show_fit() {
  run::DataChoice data;
  data.source = "breast-cancer";
  data.holdout = 0.25;
  run::TrainingChoice training;
  training.options.relative_tolerance = 1e-8;
  const run::Prepared prepared = run::prepare(data);
  fmt::print("{}\n", describe(data, prepared));
  show_training(run::train(data, prepared, training));
}

std::string steps_to(const run::DataChoice& data, const run::Prepared& prepared, const std::string& rate, double loss) {
  run::TrainingChoice training;
  training.solver = "gd";
  training.rate = rate;
  training.random_start = true;
  training.options.loss_threshold = loss;
  training.options.epochs = kMostSteps;
  training.threads = 1;
  const run::TrainingResult result = run::train(data, prepared, training);
  const std::string steps = result.stop == linear::Stop::loss_threshold ? fmt::format("{}", result.last.epoch)
                                                                        : fmt::format("> {}", result.last.epoch);
  return fmt::format("{:>9} ({:.5g})", steps, result.last.rate);
}

// The paper's race, on the embedded sets and with its scaling: neither constant wins everywhere.
void show_race() {
  struct Row {
    const char* source;
    const char* scaling;
    double loss;
  };
  constexpr std::array rows = {Row{"boston", "sum", 200}, Row{"breast-cancer", "sum", 0.2}, Row{"iris", "none", 0.2},
                               Row{"digits", "none", 0.2}};
  fmt::print("{:<14} {:>8} {:>22} {:>24} {:>24}\n", "data", "to loss", "rate 0.1", "1/L published", "1/beta");
  for (const Row& row : rows) {
    run::DataChoice data;
    data.source = row.source;
    data.scaling = row.scaling;
    data.intercept = row.scaling == std::string("sum");
    const run::Prepared prepared = run::prepare(data);
    fmt::print("{:<14} {:>8} {:>22} {:>24} {:>24}\n", row.source, row.loss, steps_to(data, prepared, "0.1", row.loss),
               steps_to(data, prepared, "published", row.loss), steps_to(data, prepared, "gradient", row.loss));
  }
  fmt::print("\nFull steps of gradient descent from the same random start, the rate in brackets.\n");
}

}  // namespace

void add_demo_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("demo", "A tour of a few seconds on embedded data");
  command->callback([] {
    step(1, "What are the Lipschitz constants of a problem, and which rate follows?", "lipschitzlr rate breast-cancer");
    show_rates();
    step(2, "Train it, with no rate to tune.", "lipschitzlr fit breast-cancer --holdout 0.25");
    show_fit();
    step(3, "How many steps does a computed rate take, against a guess?",
         "lipschitzlr fit boston --scale sum --solver gd --rate published --random-start --loss 200   (and so on)");
    show_race();
    fmt::print(
        "\nNext: `lipschitzlr reproduce table1` checks the paper's first table; `lipschitzlr --help` shows all.\n");
  });
}

}  // namespace lipschitzlr::app

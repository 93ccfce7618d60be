#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "lipschitzlr/run/constants.hpp"
#include "lipschitzlr/run/training.hpp"

namespace lipschitzlr::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kRaceRates = {"0.1", "published", "gradient"};

// Each part prints itself, or gives itself as JSON.
void step(int number, const char* question, const char* command) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  fmt::print("\n{}{}. {}{}\n$ {}\n\n", terminal ? "\033[1m" : "", number, question, terminal ? "\033[0m" : "", command);
}

Json show_rates(bool json) {
  run::DataChoice data;
  data.source = "breast-cancer";
  const run::Prepared prepared = run::prepare(data);
  const run::ConstantsReport report = report_constants(prepared, {});
  if (json) return Json::parse(constants_json(data, prepared, report));
  step(1, "What are the Lipschitz constants of a problem, and which rate follows?", "lipschitzlr rate breast-cancer");
  fmt::print("{}\n\n", describe(data, prepared));
  show_constants(report);
  return {};
}

Json show_fit(bool json) {
  run::DataChoice data;
  data.source = "breast-cancer";
  data.holdout = 0.25;
  run::TrainingChoice training;
  training.options.relative_tolerance = 1e-8;
  const run::Prepared prepared = run::prepare(data);
  const run::TrainingResult result = run::train(data, prepared, training);
  if (json) return Json::parse(result.model.training);
  step(2, "Train it, with no rate to tune.", "lipschitzlr fit breast-cancer --holdout 0.25");
  fmt::print("{}\n", describe(data, prepared));
  show_training(result);
  return {};
}

run::TrainingResult race(const run::DataChoice& data, const run::Prepared& prepared, const std::string& rate,
                         double loss, std::int64_t most_steps) {
  run::TrainingChoice training;
  training.solver = "gd";
  training.rate = rate;
  training.random_start = true;
  training.options.loss_threshold = loss;
  training.options.epochs = most_steps;
  training.threads = 1;
  return run::train(data, prepared, training);
}

// The paper's race, on the embedded sets and with its scaling: neither constant wins everywhere.
Json show_race(bool json, std::int64_t most_steps) {
  struct Row {
    const char* source;
    const char* scaling;
    double loss;
  };
  constexpr std::array rows = {Row{"boston", "sum", 200}, Row{"breast-cancer", "sum", 0.2}, Row{"iris", "none", 0.2},
                               Row{"digits", "none", 0.2}};
  if (!json) {
    step(3, "How many steps does a computed rate take, against a guess?",
         "lipschitzlr fit boston --scale sum --solver gd --rate published --random-start --loss 200");
    fmt::print("{:<14} {:>8} {:>22} {:>24} {:>24}\n", "data", "to loss", "rate 0.1", "1/L published", "1/beta");
  }
  Json all = Json::array();
  for (const Row& row : rows) {
    run::DataChoice data;
    data.source = row.source;
    data.scaling = row.scaling;
    data.intercept = row.scaling == std::string("sum");
    const run::Prepared prepared = run::prepare(data);
    Json object = {{"data", row.source}, {"scale", row.scaling}, {"loss", row.loss}, {"runs", Json::array()}};
    std::vector<std::string> cells;
    for (const char* rate : kRaceRates) {
      const run::TrainingResult result = race(data, prepared, rate, row.loss, most_steps);
      const bool reached = result.stop == linear::Stop::loss_threshold;
      object["runs"].push_back(
          {{"rate_name", rate}, {"rate", result.last.rate}, {"updates", result.last.epoch}, {"reached", reached}});
      cells.push_back(
          fmt::format("{:>9} ({:.5g})", fmt::format("{}{}", reached ? "" : "> ", result.last.epoch), result.last.rate));
    }
    if (!json) fmt::print("{:<14} {:>8} {:>22} {:>24} {:>24}\n", row.source, row.loss, cells[0], cells[1], cells[2]);
    all.push_back(object);
  }
  return all;
}

struct Options {
  std::int64_t most_steps = 50000;
  bool json = false;
};

void demo(const Options& options) {
  const bool json = options.json;
  const Json constants = show_rates(json), training = show_fit(json), runs = show_race(json, options.most_steps);
  if (json) {
    fmt::print("{}\n", Json{{"constants", constants}, {"training", training}, {"race", runs}}.dump(2));
    return;
  }
  fmt::print(
      "\nFull steps of gradient descent from the same random start, the rate in brackets. These are updates;\n"
      "`lipschitzlr reproduce` counts measurements of the loss as the paper does, one more.\n"
      "\nNext: `lipschitzlr reproduce table1` checks the paper's first table; `lipschitzlr --help` shows all.\n");
}

}  // namespace

void add_demo_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("demo", "A tour of a few seconds on embedded data");
  auto options = std::make_shared<Options>();
  expect_whole(command->add_option("--steps", options->most_steps, "give up a race after this many; default: 50000"), 1)
      ->type_name("N");
  add_json_option(*command, options->json);
  command->footer(
      "It computes the constants of a data set, trains on it, and lets rates race on four others.\n"
      "Example:\n"
      "  lipschitzlr demo");
  command->callback([options] { demo(*options); });
}

}  // namespace lipschitzlr::app

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::app {
namespace {

constexpr int kInterrupted = 130;  // what a shell expects of a program that Ctrl-C ended

struct Options {
  run::DataChoice data;
  run::TrainingChoice training;
  std::string output;
  bool json = false;
  bool quiet = false;
};

int fit(Options& options) {
  options.training.options.seed = options.data.seed;
  const bool silent = options.quiet || options.json;
  options.training.verbosity = silent ? run::Verbosity::silent : run::default_verbosity();
  run::check(options.training);
  if (!options.output.empty()) check_writable(options.output);
  const run::Prepared prepared = run::prepare(options.data);
  if (!options.json) {
    fmt::print("{}\n", describe(options.data, prepared));
    std::fflush(stdout);
  }
  const run::TrainingResult result = run::train(options.data, prepared, options.training);
  if (!options.output.empty()) linear::save_model(result.model, options.output);
  if (options.json) {
    nlohmann::json object = nlohmann::json::parse(result.model.training);
    if (!options.output.empty()) object["model_file"] = options.output;
    fmt::print("{}\n", object.dump(2));
  } else {
    show_training(result);
    if (!options.output.empty()) fmt::print("model written to {}\n", options.output);
  }
  if (!result.record_failure.empty()) throw Error(Fault::data, result.record_failure);
  if (result.stop == linear::Stop::not_finite) {
    throw Error(
        Fault::training,
        fmt::format("the loss left the finite numbers after epoch {} at rate {:.6g}; the last finite weights {}. Take "
                    "--rate gradient, or another --scale",
                    result.last.epoch, result.last.rate,
                    options.output.empty() ? "were not saved (no -o)" : "are in " + options.output));
  }
  if (result.stop != linear::Stop::interrupted) return 0;
  if (!options.output.empty()) {
    fmt::print(stderr, "lipschitzlr: interrupted; the same command with --resume {} goes on from here\n",
               options.output);
  }
  return kInterrupted;
}

}  // namespace

void add_fit_command(CLI::App& app, const std::vector<std::string>& words, int& exit_code) {
  CLI::App* command = app.add_subcommand("fit", "Train a linear model; no rate to tune");
  auto options = std::make_shared<Options>();
  options->training.options.relative_tolerance = 1e-8;
  add_data_options(*command, options->data);
  add_training_options(*command, options->training);
  command->add_option("-o,--output", options->output, "the model file to write")->type_name("FILE");
  command->add_option("--resume", options->training.resume, "go on with the unfinished training of this model file")
      ->type_name("FILE");
  command->add_option("--record", options->training.record, "a new folder for config.json, metrics.jsonl, summary.json")
      ->type_name("FOLDER");
  add_threads_option(*command, options->training.threads);
  command->add_flag("--watch", options->training.watch,
                    "plots of loss and rate while it runs; into a file, once at the end");
  command->add_flag("-q,--quiet", options->quiet, "no progress on standard error");
  add_json_option(*command, options->json);
  command->footer(
      "Examples:\n"
      "  lipschitzlr fit prices.csv --target price -o model.json\n"
      "  lipschitzlr fit iris --holdout 0.3 --solver gd --rate published\n"
      "  lipschitzlr fit a9a --solver sgd --batch 256 --epochs 20 -o a9a.json\n"
      "  lipschitzlr fit boston --record runs/boston --watch\n"
      "Ctrl-C ends the training after the running epoch and still writes the model; a second Ctrl-C\n"
      "ends at once.");
  command->callback([options, &words, &exit_code] {
    options->training.command = words;
    exit_code = fit(*options);
  });
}

}  // namespace lipschitzlr::app

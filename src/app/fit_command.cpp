#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/options.hpp"
#include "app/show.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  run::DataChoice data;
  run::TrainingChoice training;
  std::string output;
  bool json = false;
  bool quiet = false;
};

int exit_code_of(linear::Stop stop) {
  if (stop == linear::Stop::not_finite) return static_cast<int>(Fault::training);
  return stop == linear::Stop::interrupted ? static_cast<int>(Fault::interrupted) : 0;
}

// Saves and shows a training that is over; the answer is the exit code.
int conclude(const Options& options, const run::TrainingResult& result) {
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
  if (result.stop == linear::Stop::interrupted && !options.output.empty()) {
    fmt::print(stderr, "lipschitzlr: interrupted; the same command with --resume {} goes on from here\n",
               options.output);
  }
  return exit_code_of(result.stop);
}

int fit(Options& options, const Connect& connect) {
  options.training.options.seed = options.data.seed;
  const bool silent = options.quiet || options.json;
  options.training.verbosity = silent ? run::Verbosity::silent : run::default_verbosity();
  run::check(options.training);
  const std::unique_ptr<Communicator> communicator = connect ? connect() : nullptr;
  if (communicator && options.data.source == "-") {
    throw Error(Fault::usage, "standard input reaches one process alone; name a file that all processes can read");
  }
  const bool speaks = is_root(communicator.get());
  from_root(communicator.get(), [&] {
    if (!options.output.empty()) check_writable(options.output);
    return "";
  });
  const run::Prepared prepared = run::prepare(options.data);
  if (speaks && !options.json) {
    fmt::print("{}\n", describe(options.data, prepared));
    std::fflush(stdout);
  }
  const run::TrainingResult result = run::train(options.data, prepared, options.training, communicator.get());
  return speaks ? conclude(options, result) : exit_code_of(result.stop);
}

}  // namespace

void add_fit_command(CLI::App& app, const std::vector<std::string>& words, int& exit_code, const Connect& connect) {
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
      "  lipschitzlr launch -n 2 -- fit a9a -o a9a.json     rows shared by two processes, same result\n"
      "Ctrl-C ends the training after the running epoch and still writes the model; a second Ctrl-C\n"
      "ends at once.");
  command->callback([options, &words, &exit_code, connect] {
    options->training.command = words;
    exit_code = fit(*options, connect);
  });
}

}  // namespace lipschitzlr::app

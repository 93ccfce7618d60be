#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/output_file.hpp"
#include "app/show.hpp"
#include "base/terminal.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/cores.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/fit.hpp"

namespace lipschitzlr::app {
namespace {

struct FitState {
  run::FitRequest options;
  std::string output;
  bool json = false, quiet = false;
  bool writes = false;  // -o is given

  bool to_stdout() const { return output == "-"; }  // the model, and nothing else
};

int exit_code_of(linear::Stop stop) {
  if (stop == linear::Stop::not_finite) return static_cast<int>(Fault::training);
  return stop == linear::Stop::interrupted ? static_cast<int>(Fault::interrupted) : 0;
}

// Saves and shows a training that is over; returns the exit code.
int conclude(const FitState& state, const run::FitResult& result) {
  const bool saved = !state.output.empty() && !state.to_stdout();
  if (saved) linear::save_model(result.model, state.output);
  if (state.to_stdout()) {
    fmt::print("{}", linear::to_json(result.model));
    for (const std::string& warning : result.warnings) print_stderr("lipschitzlr: warning: {}\n", warning);
  } else if (state.json) {
    nlohmann::json object = nlohmann::json::parse(result.summary);
    if (saved) object["model_file"] = state.output;
    fmt::print("{}\n", object.dump(2));
  } else {
    show_fit(result);
    if (saved) fmt::print("model written to {}\n", state.output);
  }
  if (!result.record_failure.empty()) throw Error(Fault::data, result.record_failure);
  if (result.stop == linear::Stop::not_finite) {
    throw Error(
        Fault::training,
        fmt::format("the loss became NaN or infinite after epoch {} at rate {:.6g}; the last finite weights "
                    "{}. Take --rate gradient, or another --scale",
                    result.last.epoch, result.last.rate, saved ? "are in " + state.output : "were not saved (no -o)"));
  }
  if (result.stop == linear::Stop::interrupted && saved) {
    print_stderr("lipschitzlr: interrupted; the same command with --resume {} continues from here\n", state.output);
  }
  return exit_code_of(result.stop);
}

int fit(FitState& state, const Connect& connect) {
  run::FitRequest& options = state.options;
  options.verbosity = verbosity_of(state.quiet || state.json, options.watch);
  check(options);
  if (state.to_stdout() && state.json) {
    throw Error(Fault::usage, "-o - and --json both write to standard output: leave one of them out");
  }
  const std::unique_ptr<Communicator> communicator = connect ? connect() : nullptr;
  if (communicator && options.data.source == "-") {
    throw Error(Fault::usage, "standard input reaches one process alone; name a file that all processes can read");
  }
  const bool speaks = is_root(communicator.get());
  from_root(communicator.get(), [&] {
    if (state.writes) check_output(state.output, {options.data.source});
    return "";
  });
  options.data.encoding.all_levels = has_penalty(options);
  options.data.read.threads = threads_beside(communicator.get(), options.threads);
  run::Prepared prepared = run::prepare(options.data, communicator.get());
  if (speaks) show_remarks(prepared.train);
  if (speaks && !state.json && !state.to_stdout()) {
    fmt::print("{}\n", describe(options.data, prepared));
    std::fflush(stdout);
  }
  const run::FitResult result = run::fit(options, std::move(prepared), communicator.get());
  return speaks ? conclude(state, result) : exit_code_of(result.stop);
}

}  // namespace

Command fit_command(const Connect& connect) {
  const auto state = std::make_shared<FitState>();
  return {.name = "fit",
          .summary = "Train a linear model; no rate to tune",
          .options = options_of(state->options) +
                     run::Options{{"output", &state->output, "the model file to write; - for standard output",
                                   run::Placeholder{"FILE"}, run::Flags{"-o,--output"}},
                                  {"quiet", &state->quiet, "no progress on standard error", run::Flags{"-q,--quiet"}},
                                  run::json_option(state->json)},
          .run =
              [state, connect](const Call& call) {
                state->options.command = call.words;
                state->writes = call.given.contains("output");
                return fit(*state, connect);
              },
          .details =
              "Ctrl-C ends the training after the running epoch and still writes the model, from which --resume\n"
              "continues bit for bit; a second Ctrl-C ends at once.",
          .examples =
              "fit prices.csv --target price -o model.json\n"
              "fit people.csv --target income --ignore id,name --missing median\n"
              "fit iris --holdout 0.3 --solver gd --rate published\n"
              "fit a9a --solver sgd --batch 256 --epochs 20 -o a9a.json\n"
              "fit boston --record runs/boston --watch\n"
              "fit --config fit.toml --l2 0.1\n"
              "launch -n 2 -- fit a9a -o a9a.json     rows shared by two processes, same result",
          .takes_config = true};
}

}  // namespace lipschitzlr::app

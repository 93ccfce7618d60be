#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/show.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::app {
namespace {

struct TrainState {
  run::TrainRequest request;
  bool json = false, quiet = false;
};

// With --resume: what else is in the record of the run must stay as it was.
void expect_resumable(const run::Options& options, const Call& call) {
  for (const run::Option& option : options) {
    if (option.is(run::kMayChange) || !call.given.contains(option.name)) continue;
    throw Error(Fault::usage,
                fmt::format("--resume takes its options from the run; {} can't be changed", flag_of(option)));
  }
}

int train(TrainState& state, const Call& call, const Train& train) {
  run::TrainRequest& request = state.request;
  if (!request.resume.empty()) {
    expect_resumable(options_of(request), call);
    if (call.given.contains("epochs")) request.more_epochs = request.options.epochs;
  }
  request.command = call.words;
  request.verbosity = verbosity_of(state.quiet, request.watch);
  return train(request, state.json);
}

}  // namespace

Command train_command(const Train& train, const std::string& details) {
  const auto state = std::make_shared<TrainState>();
  return {.name = "train",
          .summary = "Train a network on images or a table, with nothing to set",
          .options = options_of(state->request) +
                     run::Options{{"quiet", &state->quiet, "no progress", run::Flags{"-q,--quiet"}, run::kMayChange},
                                  run::json_option(state->json)},
          .run = [state, train](const Call& call) { return app::train(*state, call, train); },
          .details = details,
          .examples =
              "train --data mnist\n"
              "train --data prices.csv --target price --model mlp-64-64\n"
              "train --data iris --holdout 0.3\n"
              "train --data cifar10 --optimizer adam\n"
              "train --data cifar10 --optimizer adamo --first-rate search --epochs 30\n"
              "train --data cifar10 --optimizer adamo --first-rate 1 --decay 1e-3 --protocol coded\n"
              "train --data cifar10 --optimizer momentum --policy grid --schedule cosine\n"
              "train --data mnist --optimizer adashift --rate 0.003 --set delay=5\n"
              "train --resume runs/mnist-mnist-cnn-auto-adaptive --epochs 40\n"
              "launch -n 2 -- train --data mnist",
          .takes_config = true};
}

}  // namespace lipschitzlr::app

#include "app/torch_commands.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/communicator.hpp"
#include "app/show.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/nn/process.hpp"
#include "lipschitzlr/run/network_evaluation.hpp"
#include "lipschitzlr/run/network_probe.hpp"
#include "lipschitzlr/run/network_training.hpp"

namespace lipschitzlr::app {
namespace {

using Json = nlohmann::ordered_json;

// "  adashift      0.01   Adam with squares ...; delay = 10, ..."
std::string optimizer_list() {
  std::string text = "Optimizers, their usual rates and settings:\n";
  for (const nn::OptimizerInfo& info : nn::optimizers()) {
    std::string words = info.summary;
    const char* joint = "; ";
    for (const nn::OptimizerSetting& setting : info.settings) {
      words += fmt::format("{}{}={:g}", joint, setting.name, setting.value);
      joint = " ";
    }
    text += wrap(fmt::format("  {:<13} {:<6.4g} ", info.name, info.rate), words);
  }
  return text + "Those from amsgrad on have step sizes of their own, for which no rate is computed.\n";
}

void show(const run::TrainResult& result) {
  const auto accuracy = [&](const nn::Evaluation& of) { return run::accuracy_text(result.family, of.accuracy); };
  const bool numbers = result.family == linear::Family::linear;
  fmt::print("{}, {}, {}, {:.0f} {}/s\n", counted(result.parameters, "parameter"), counted(result.epochs, "epoch"),
             counted(result.steps, "step"), result.images_per_second, result.unit);
  fmt::print("best accuracy   {} in epoch {}, on {}\n", accuracy(result.best), result.best_epoch, result.validated_on);
  fmt::print("final accuracy  {}\n", accuracy(result.final_validation));
  if (result.test) fmt::print("test accuracy   {} of the final weights\n", accuracy(*result.test));
  if (!numbers) fmt::print("majority class  {:.2f} %\n", result.majority_accuracy * 100);
  fmt::print("folder          {}\n", result.folder);
}

int train(run::TrainRequest request, bool json) {
  const std::unique_ptr<Communicator> communicator = join_communicator();
  request.communicator = communicator.get();
  const run::TrainResult result = run::train_network(request);
  const int code = result.interrupted ? static_cast<int>(Fault::interrupted) : 0;
  if (!is_root(communicator.get())) return code;
  if (json) {
    fmt::print("{}\n", result.json);
  } else if (!result.interrupted) {
    show(result);
  }
  for (const std::string& remark : result.remarks) print_stderr("lipschitzlr: {}\n", remark);
  if (result.interrupted) {
    print_stderr("lipschitzlr: interrupted; continue with: lipschitzlr train --resume {}\n", result.folder);
  }
  return code;
}

struct Evaluate {
  run::TrainOptions options;
  std::string weights;
  bool json = false;
};

void evaluate(const Evaluate& state) {
  const run::NetworkEvaluation result = run::evaluate_network(state.options, state.weights);
  if (state.json) {
    fmt::print("{}\n", result.json);
    return;
  }
  for (const std::string& remark : result.remarks) print_stderr("{}: {}\n", state.weights, remark);
  show_evaluation(result.figures,
                  fmt::format("{} {} images", result.images, result.of_test_images ? "test" : "training"));
}

// "cifar10:resnet20-v1:128"
run::NetworkSpeed probe(const std::string& word, unsigned threads) {
  const std::vector<std::string> parts = split(word, ':');
  const double batch = parts.size() == 3 ? number_from(parts[2]).value_or(0) : 0;
  if (batch < 2) throw Error(Fault::usage, fmt::format("{}: expected DATA:NETWORK:BATCH", word));
  return run::probe_network(parts[0], parts[1], static_cast<Index>(batch), threads);
}

void show_facts(bool json) {
  const nn::ProcessFacts facts = nn::process_facts();
  if (json) {
    const Json object = {
        {"libtorch", facts.libtorch_version}, {"threads", facts.threads},         {"cores", facts.cores},
        {"parallel", facts.parallel_backend}, {"wait_policy", facts.wait_policy}, {"blas", facts.blas},
        {"blas_threads", facts.blas_threads}};
    fmt::print("{}\n", object.dump(2));
    return;
  }
  fmt::print("libtorch     {}\n", facts.libtorch_version);
  fmt::print("threads      {} on {} cores\n", facts.threads, facts.cores);
  fmt::print("parallel by  {}, wait policy {}\n", facts.parallel_backend,
             facts.wait_policy.empty() ? "not set" : facts.wait_policy);
  fmt::print("BLAS         {}\n", facts.blas);
  if (facts.blas_threads > 0) fmt::print("its threads  {}\n", facts.blas_threads);
}

}  // namespace

Command network_train_command() {
  Command command = train_command(train, optimizer_list());
  for (run::Option& option : command.options) {
    if (option.name == "optimizer") option.member.names = nn::optimizer_names();
  }
  return command;
}

Command network_evaluate_command() {
  const auto state = std::make_shared<Evaluate>();
  const run::Options train = options_of(state->options);
  run::Options options = {{"weights", &state->weights, "safetensors (best, weights or checkpoint), or Keras .h5",
                           run::Placeholder{"FILE"}, run::kRequired}};
  for (const char* name : {"data", "network", "padding", "bn_epsilon", "threads"}) {
    options.push_back(find_option(train, name));
  }
  return {.name = "evaluate",
          .summary = "Measure a trained network on the test images of a set",
          .options = options + run::Options{run::json_option(state->json)},
          .run = [state](const Call&) { return evaluate(*state), 0; },
          .examples = "evaluate --model resnet20-v1 --data cifar10 --weights best.safetensors"};
}

Command probe_command() {
  struct State {
    std::vector<std::string> words;
    unsigned threads = 0;
  };
  const auto state = std::make_shared<State>();
  return {.name = "probe",
          .summary = "Measure how fast networks train here, on noise; prints JSON",
          .options = {{"what", &state->words, "DATA:NETWORK:BATCH, several", run::Flags{"WHAT"}, run::kRequired},
                      run::threads_option(state->threads, run::Bits::differ)},
          .run =
              [state](const Call&) {
                std::vector<run::NetworkSpeed> speeds;
                for (const std::string& word : state->words) speeds.push_back(probe(word, state->threads));
                return fmt::print("{}\n", run::to_json(speeds)), 0;
              },
          .hidden = true};
}

Command torch_env_command() {
  const auto json = std::make_shared<bool>(false);
  return {.name = "env",
          .summary = "What libtorch computes with: version, threads, BLAS",
          .options = {run::json_option(*json)},
          .run = [json](const Call&) { return show_facts(*json), 0; }};
}

}  // namespace lipschitzlr::app

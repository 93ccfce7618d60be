#include <fmt/format.h>

#include <algorithm>

#include "app/communicator.hpp"
#include "app/options.hpp"
#include "app/torch_commands.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/image/image_sources.hpp"
#include "lipschitzlr/rate/second_moment.hpp"
#include "lipschitzlr/run/network_training.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  run::NetworkRun run;
  std::string resume;
  bool json = false, quiet = false;
};

void add_what_options(CLI::App& command, run::NetworkChoice& choice) {
  command
      .add_option("--data", choice.data,
                  "image set: mnist (default), fashion-mnist, cifar10, cifar100, or a folder with one "
                  "folder of PNG files per class (in train/ and test/, or in itself)")
      ->type_name("SET");
  command
      .add_option("--model", choice.network,
                  "network: mnist-cnn, resnet20-v1 (N = 6n+2), resnet56-v2 (N = 9n+2), "
                  "densenet-40-12, mlp-256-128, softmax; default: by the images")
      ->type_name("NAME");
  command.add_option("--optimizer", choice.optimizer, "one of the list below; default: adamo")->type_name("NAME");
  command
      .add_option("--set", choice.settings, "settings of the optimizer, such as delay=5,beta1=0.8; see the list below")
      ->type_name("NAME=NUMBER,...");
  command
      .add_option(
          "--policy", choice.policy,
          "adaptive: the rate is recomputed; fixed: computed once; baseline: a usual one (--rate); grid: baseline "
          "with the best rate of short trials; default: adaptive, baseline for optimizers with steps of their own")
      ->type_name("adaptive|fixed|baseline|grid");
  command
      .add_option("--protocol", choice.protocol,
                  "published (default): the paper's text; coded: what its authors ran, with the "
                  "test set as validation set")
      ->type_name("published|coded");
  expect_whole(command.add_option("--epochs", choice.epochs, "how often every image is seen; default: 20"), 1);
  expect_whole(
      command.add_option("--batch", choice.batch, "images per step, of all processes; default: 256 grey, 128 coloured"),
      2);
}

void add_rate_options(CLI::App& command, run::NetworkChoice& choice) {
  command
      .add_option(
          "--first-rate", choice.first_rate,
          "rate of the first epoch (AdaMo's x), search: the best of 0.1, 0.5, 1 in short trials, or none; default: "
          "0.1 for AdaMo, else none")
      ->type_name("RATE");
  expect_positive(
      command.add_option("--rate", choice.rate, "rate of the policy baseline; default: by the optimizer, see below"));
  expect_not_negative(
      command.add_option("--decay", choice.decay, "rate/(1 + decay step): what the paper's tables call WD"));
  expect_not_negative(command.add_option("--l2", choice.l2,
                                         "lambda of lambda/2 |w|^2; coded: in the constant only, default "
                                         "the decay"));
  expect_positive(command.add_option("--constant", choice.constant,
                                     "take this for G, the loss's Lipschitz constant, whatever is measured"));
  command.add_option("--update", choice.update, "recompute the rate every epoch (default) or iteration")
      ->type_name("epoch|iteration");
  command
      .add_option("--measure", choice.measure,
                  "in-step: K_z from the training steps; pass: by a pass over the "
                  "images before each epoch; default: by protocol")
      ->type_name("in-step|pass");
  command
      .add_option("--second-moment", choice.second_moment,
                  fmt::format("estimate of S: {}", fmt::join(rate::second_moment_names(), ", ")))
      ->type_name("NAME");
  command.add_option("--bias-correction", choice.bias_correction, "yes, no; default: published yes, coded no")
      ->type_name("yes|no");
  expect_share(command.add_option("--beta", choice.beta, "AdaMo, RMSprop: weight of the past; default: 0.9"));
  expect_share(command.add_option("--beta1", choice.beta1, "Auto-Adam: the same of the first average; default: 0.9"));
  expect_share(
      command.add_option("--beta2", choice.beta2, "Auto-Adam: the same of the second average; default: 0.999"));
  expect_not_negative(
      command.add_option("--epsilon", choice.epsilon, "RMSprop, Auto-Adam: added to square roots; default: 1e-7"));
  expect_positive(command.add_option("--k1", choice.k1, "Auto-Adam: K1 at the start"));
  expect_positive(command.add_option("--k2", choice.k2, "Auto-Adam: K2 at the start"));
  command.add_flag("--hold-averages", choice.hold_averages, "Auto-Adam: never move K1 and K2");
}

void add_usual_rate_options(CLI::App& command, run::NetworkChoice& choice) {
  command
      .add_option(
          "--schedule", choice.schedule,
          "what the rate of the policies baseline and grid is multiplied by, step by step: constant (default): 1; "
          "cosine: from 1 to 0; step: 1, 0.1 after half of the steps, 0.01 after three quarters")
      ->type_name("constant|cosine|step");
  expect_whole(command.add_option("--schedule-epochs", choice.schedule_epochs,
                                  "how long the schedule lasts; default: all epochs"),
               1);
  command
      .add_option("--grid", choice.grid, "the rates that the policy grid tries; default: 0.0001, 0.0003, 0.001, ... 1")
      ->type_name("RATE,...");
  expect_whole(command.add_option("--grid-epochs", choice.grid_epochs, "epochs of each trial; default: 3"), 1);
  expect_whole(command.add_option(
                   "--grid-images", choice.grid_images,
                   "images of each trial; up to 1000 others, which are training images too, judge it; default: 5120"),
               2);
}

// "  adashift   0.01   Adam with squares ...; delay = 10, ..."
std::string optimizer_list() {
  std::string text = "Optimizers, their usual rates and settings:\n";
  for (const nn::OptimizerInfo& info : nn::optimizers()) {
    std::string words = info.summary;
    const char* joint = "; ";
    for (const nn::OptimizerSetting& setting : info.settings) {
      words += fmt::format("{}{}={:g}", joint, setting.name, setting.value);
      joint = " ";
    }
    text += wrap(fmt::format("  {:<10} {:<6g} ", info.name, info.rate), words);
  }
  return text;
}

void add_network_options(CLI::App& command, run::NetworkChoice& choice) {
  command.add_option("--padding", choice.padding, "of 3x3 convolutions with stride 2; default: tensorflow")
      ->type_name("tensorflow|symmetric");
  expect_positive(
      command.add_option("--bn-eps", choice.bn_epsilon, "batch norm's epsilon; default: 1e-3, DenseNet 1.1e-5"));
  expect_share(
      command.add_option("--bn-momentum", choice.bn_momentum, "batch norm's weight of the past; default: 0.99"));
}

void add_run_options(CLI::App& command, Options& options) {
  run::NetworkRun& run = options.run;
  command.add_option("-o,--output", run.folder, "folder of the run; default: a new one under runs/")
      ->type_name("FOLDER");
  command
      .add_option("--resume", options.resume,
                  "go on with the run in this folder, bit for bit, with its options; --epochs adds to it")
      ->type_name("FOLDER");
  command.add_option("--weights", run.weights, "start from these (safetensors, or Keras .h5)")->type_name("FILE");
  command.add_option("--augment", run.choice.augment, "auto: shifts and flips, or shifts, zoom and rotation; none")
      ->type_name("auto|none");
  expect_share(command.add_option("--validation", run.choice.validation,
                                  "share of the training images set aside; 0: validate on the "
                                  "test images; default: 0.1, coded 0"));
  expect_whole(
      command.add_option("--limit", run.choice.limit, "train on so many images only, spread evenly over the set"), 1);
  expect_whole(command.add_option("--seed", run.choice.seed, "of start, order, augmentation and dropout; default: 1"),
               0);
  expect_whole(
      command.add_option("--log-steps", run.log_steps, "record every so many steps, 0: epochs only; default: 50"), 0);
  expect_positive(command.add_option("--checkpoint-minutes", run.checkpoint_minutes,
                                     "save a checkpoint every so many minutes, and after each epoch; default: 5"));
  add_threads_option(command, run.choice.threads, Bits::differ);
  command.add_flag("--watch", run.watch, "plots of loss and rate while it runs; into a file, once at the end");
  command
      .add_option("--precision", run.choice.precision,
                  "numbers of 32 bits (single, default) or 64: half as fast, for exact comparisons")
      ->type_name("single|double");
  command.add_flag("--quiet", options.quiet, "no progress");
  add_json_option(command, options.json);
}

// Whatever else is in the record of the run and must stay as it was.
void expect_resumable(const CLI::App& command) {
  const std::vector<std::string> free = {"--resume",    "--epochs", "--threads", "--checkpoint-minutes",
                                         "--log-steps", "--watch",  "--quiet",   "--json"};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || std::find(free.begin(), free.end(), option->get_name()) != free.end()) continue;
    throw Error(Fault::usage,
                fmt::format("--resume takes its options from the run; {} can't be changed", option->get_name()));
  }
}

void show(const run::NetworkResult& result) {
  fmt::print("{} parameters, {} epochs, {} steps, {:.0f} images/s\n", result.parameters, result.epochs, result.steps,
             result.images_per_second);
  fmt::print("best accuracy   {:.2f} % in epoch {}, on {}\n", result.best.accuracy * 100, result.best_epoch,
             result.validated_on);
  fmt::print("final accuracy  {:.2f} %\n", result.final_validation.accuracy * 100);
  if (result.test) fmt::print("test accuracy   {:.2f} % of the final weights\n", result.test->accuracy * 100);
  fmt::print("majority class  {:.2f} %\n", result.majority_accuracy * 100);
  fmt::print("folder          {}\n", result.folder);
}

void train(Options options, const std::vector<std::string>& words, int& exit_code) {
  options.run.command = words;
  options.run.verbosity = options.quiet ? run::Verbosity::silent : run::default_verbosity();
  const std::unique_ptr<Communicator> communicator = join_communicator();
  options.run.communicator = communicator.get();
  const run::NetworkResult result = run::train_network(options.run);
  if (result.interrupted) exit_code = static_cast<int>(Fault::interrupted);
  if (communicator && !communicator->is_root()) return;
  if (options.json) {
    fmt::print("{}\n", run::to_json(result));
  } else if (!result.interrupted) {
    show(result);
  }
  for (const std::string& remark : result.remarks) fmt::print(stderr, "lipschitzlr: {}\n", remark);
  if (!result.interrupted) return;
  fmt::print(stderr, "lipschitzlr: interrupted; go on with: lipschitzlr train --resume {}\n", result.folder);
}

}  // namespace

void add_train_command(CLI::App& app, const std::vector<std::string>& words, int& exit_code) {
  CLI::App* command = app.add_subcommand("train", "Train a network on images with computed rates");
  auto options = std::make_shared<Options>();
  add_what_options(*command, options->run.choice);
  add_rate_options(*command, options->run.choice);
  add_usual_rate_options(*command, options->run.choice);
  add_network_options(*command, options->run.choice);
  add_run_options(*command, *options);
  fold_help(*command);
  command->footer(optimizer_list() +
                  "Those from amsgrad on have step sizes of their own, for which no rate is computed.\n\n"
                  "Examples:\n"
                  "  lipschitzlr train --data mnist\n"
                  "  lipschitzlr train --data cifar10 --optimizer adamo --first-rate search --epochs 30\n"
                  "  lipschitzlr train --data cifar10 --optimizer adamo --first-rate 1 --decay 1e-3 --protocol coded\n"
                  "  lipschitzlr train --data cifar10 --optimizer momentum --policy grid --schedule cosine\n"
                  "  lipschitzlr train --data mnist --optimizer adashift --rate 0.003 --set delay=5\n"
                  "  lipschitzlr train --resume runs/mnist-mnist-cnn-adamo-adaptive --epochs 40\n"
                  "  lipschitzlr launch -n 2 -- train --data mnist");
  command->callback([options, command, &words, &exit_code] {
    if (!options->resume.empty()) {
      expect_resumable(*command);
      options->run.resume = true;
      options->run.folder = options->resume;
      if (command->count("--epochs") > 0) options->run.more_epochs = options->run.choice.epochs;
    }
    train(*options, words, exit_code);
  });
}

}  // namespace lipschitzlr::app

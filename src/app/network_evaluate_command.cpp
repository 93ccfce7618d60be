#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/options.hpp"
#include "app/torch_commands.hpp"
#include "lipschitzlr/data/image/image_sources.hpp"
#include "lipschitzlr/run/network_choice.hpp"

namespace lipschitzlr::app {
namespace {

struct Options {
  run::NetworkChoice choice;
  std::string weights;
  bool json = false;
};

// A trainer that never trains: it knows how to make the network and what to feed it.
void evaluate(const Options& options) {
  const data::ImageSet train = data::load_images(options.choice.data, data::Part::train);
  const data::ImageSet test = data::load_images(options.choice.data, data::Part::test);
  nn::Trainer trainer(run::trainer_options(run::completed(options.choice, train), train), train,
                      data::all_images(train));
  const std::vector<std::string> remarks = trainer.load_weights(options.weights);
  const bool tested = test.count() > 0;
  const nn::Evaluation result = trainer.evaluate(tested ? test : train, data::all_images(tested ? test : train));
  if (options.json) {
    const nlohmann::ordered_json json = {{"accuracy", result.accuracy},
                                         {"loss", result.loss},
                                         {"images", result.count},
                                         {"parameters", trainer.parameter_count()},
                                         {"remarks", remarks}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  for (const std::string& remark : remarks) fmt::print(stderr, "{}: {}\n", options.weights, remark);
  fmt::print("accuracy  {:.2f} % of {} {} images\n", result.accuracy * 100, result.count, tested ? "test" : "training");
  fmt::print("loss      {:.6g}\n", result.loss);
}

}  // namespace

void add_network_evaluate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("evaluate", "Measure a trained network on the test images of a set");
  auto options = std::make_shared<Options>();
  command->add_option("--weights", options->weights, "safetensors (best, weights or checkpoint), or Keras .h5")
      ->required();
  command->add_option("--data", options->choice.data, "image set or folder of PNG files, as for train");
  command->add_option("--model", options->choice.network, "network, as for train; default: by the images");
  command->add_option("--padding", options->choice.padding, "as for train; default: tensorflow")
      ->type_name("tensorflow|symmetric");
  expect_positive(
      command->add_option("--bn-eps", options->choice.bn_epsilon, "batch norm's epsilon; default: the network's"));
  add_threads_option(*command, options->choice.threads, Bits::differ);
  add_json_option(*command, options->json);
  fold_help(*command);
  command->footer(
      "Example:\n"
      "  lipschitzlr evaluate --model resnet20-v1 --data cifar10 --weights "
      "runs/cifar10-resnet20-v1-adamo-adaptive/best.safetensors");
  command->callback([options] { evaluate(*options); });
}

}  // namespace lipschitzlr::app

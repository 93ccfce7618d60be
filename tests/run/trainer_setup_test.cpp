#include "lipschitzlr/run/trainer_setup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::run {
namespace {

data::ImageSet noise() {
  data::ImageSet set;
  set.height = set.width = 6;
  set.channels = 1;
  set.classes = {"a", "b"};
  Random random(1);
  for (int image = 0; image < 12; ++image) {
    set.labels.push_back(image % 2);
    for (int i = 0; i < 36; ++i) set.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  return set;
}

// After twelve steps: AdaShift takes its first after ten.
std::string weights_of(const TrainOptions& options) {
  const data::ImageSet images = noise();
  nn::Trainer trainer(trainer_options(completed(options, images), images), images, data::all_images(images));
  for (int epoch = 0; epoch < 4; ++epoch) trainer.run_epoch([](const nn::StepReport&) { return true; });
  const std::string path = testing::TempDir() + "/setup_" + std::to_string(getpid()) + ".safetensors";
  trainer.save_weights(path);
  return read_file(path);
}

struct Change {
  std::string name;  // of the option
  std::function<void(TrainOptions&)> before, apply;
};

std::vector<Change> changes() {
  const auto nothing = [](TrainOptions&) {};
  const auto starts = [](TrainOptions& o) { o.rule.initial_k1 = o.rule.initial_k2 = 2; };
  return {{"decay", nothing, [](TrainOptions& o) { o.rule.decay = 0.5; }},
          {"beta", nothing, [](TrainOptions& o) { o.rule.beta = 0.5; }},
          {"beta1", nothing, [](TrainOptions& o) { o.rule.beta1 = 0.5; }},
          {"beta2", nothing, [](TrainOptions& o) { o.rule.beta2 = 0.5; }},
          {"epsilon", nothing, [](TrainOptions& o) { o.rule.epsilon = 0.1; }},
          {"second_moment", nothing, [](TrainOptions& o) { o.second_moment = rate::SecondMoment::coded; }},
          {"bias_correction", nothing, [](TrainOptions& o) { o.bias_correction = false; }},
          {"k1", starts, [](TrainOptions& o) { o.rule.initial_k1 = 3; }},
          {"k2", starts, [](TrainOptions& o) { o.rule.initial_k2 = 3; }},
          {"hold_averages", starts, [](TrainOptions& o) { o.rule.hold_averages = true; }}};
}

bool is_accepted(const TrainOptions& options, const std::string& name) {
  TrainOptions copy = options;
  try {
    check_uses(options_of(copy), {name});
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool changes_training(TrainOptions options, const Change& change) {
  const std::vector<Policy> policies = nn::optimizer_info(options.optimizer).computed_rate
                                           ? std::vector{Policy::adaptive, Policy::baseline}
                                           : std::vector{Policy::baseline};
  return std::any_of(policies.begin(), policies.end(), [&](Policy policy) {
    options.policy = policy;
    TrainOptions before = options;
    change.before(before);
    TrainOptions after = before;
    change.apply(after);
    return weights_of(before) != weights_of(after);
  });
}

// The oracle is the training itself: an option that leaves every bit of the weights as it is does nothing.
TEST(TrainOptions, AreAcceptedWhereTheyChangeATrainingAndOnlyThere) {
  for (const std::string& optimizer : nn::optimizer_names()) {
    TrainOptions options;
    options.network = "softmax";
    options.batch = 4;
    options.augment = false;
    options.threads = 1;
    options.optimizer = optimizer;
    for (const Change& change : changes()) {
      if (optimizer == "auto") {  // has nothing to set
        TrainOptions with = options;
        change.apply(with);
        EXPECT_THROW(completed(with, noise()), Error) << change.name;
        continue;
      }
      const bool accepted = is_accepted(options, change.name);
      // completed() knows K1 and K2 as auto-adam's alone.
      const bool of_start = change.name.starts_with("k") || change.name == "hold_averages";
      if (of_start && !accepted) continue;
      EXPECT_EQ(accepted, changes_training(options, change)) << "--optimizer " << optimizer << ", " << change.name;
    }
  }
}

TEST(TrainOptions, LetTheProtocolChooseTheLossUnlessItIsNamed) {
  const auto loss_of = [](const TrainOptions& options) {
    const data::ImageSet images = noise();
    return trainer_options(completed(options, images), images).loss;
  };
  TrainOptions options;
  EXPECT_EQ(loss_of(options), nn::TrainingLoss::cross_entropy);
  options.protocol = Protocol::coded;
  EXPECT_EQ(loss_of(options), nn::TrainingLoss::clipped_cross_entropy);
  assign(find_option(options_of(options), "loss"), {"cross-entropy"});
  EXPECT_EQ(loss_of(options), nn::TrainingLoss::cross_entropy);
  TrainOptions automatic;  // the optimizer auto takes it as well
  assign(find_option(options_of(automatic), "loss"), {"clipped"});
  EXPECT_EQ(loss_of(automatic), nn::TrainingLoss::clipped_cross_entropy);
}

TEST(TrainOptions, ThatOnlyComputedRatesNeedAreRefusedBesideRatesSetByHand) {
  TrainOptions options;
  options.optimizer = "auto-adam";
  options.constant = 2;
  EXPECT_NO_THROW(check_used(options));
  options.policy = Policy::fixed;
  EXPECT_NO_THROW(check_used(options));
  options.policy = Policy::grid;
  EXPECT_THROW(check_used(options), Error);
  options.constant.reset();
  EXPECT_NO_THROW(check_used(options));
  options.policy.reset();
  options.optimizer = "wngrad";  // has steps of its own
  EXPECT_NO_THROW(check_used(options));
  options.measure = nn::Measure::pass;
  EXPECT_THROW(check_used(options), Error);
}

}  // namespace
}  // namespace lipschitzlr::run

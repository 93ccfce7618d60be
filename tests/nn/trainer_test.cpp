#include "lipschitzlr/nn/trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::nn {
namespace {

// Pictures of three classes that differ in where they are bright.
data::ImageSet pictures(Index count, Index size = 12) {
  data::ImageSet set;
  set.height = set.width = size;
  set.channels = 1;
  set.classes = {"top", "middle", "bottom"};
  Random random(9);
  for (Index i = 0; i < count; ++i) {
    const auto label = static_cast<std::int32_t>(i % 3);
    set.labels.push_back(label);
    for (Index row = 0; row < size; ++row) {
      for (Index column = 0; column < size; ++column) {
        const bool bright = row * 3 / size == label;
        set.pixels.push_back(static_cast<std::uint8_t>((bright ? 150 : 20) + random.below(80)));
      }
    }
  }
  return set;
}

TrainerOptions small_options(const std::string& network = "mnist-cnn") {
  TrainerOptions options;
  options.network = network;
  options.optimizer = "adamo";
  options.controller.rule_options.first_rate = 0.1;
  options.batch = 16;
  options.augmentation = {.shift = 0.1, .zoom = 0.1, .rotation = 10, .flip = false};
  options.threads = 1;
  return options;
}

const auto kOn = [](const StepReport&) { return true; };

std::string weights_of(const Trainer& trainer) {
  const std::string path = testing::TempDir() + "/weights.safetensors";
  trainer.save_weights(path);
  return read_file(path);
}

TEST(Trainer, LeavesOutASmallerLastBatchWhereAsked) {
  const data::ImageSet set = pictures(90);
  TrainerOptions options = small_options("softmax");
  Trainer all(options, set, data::all_images(set));
  options.drop_last = true;
  Trainer whole(options, set, data::all_images(set));
  EXPECT_EQ(all.steps_per_epoch(), 6);
  EXPECT_EQ(whole.steps_per_epoch(), 5);
  for (int epoch = 0; epoch < 2; ++epoch) ASSERT_TRUE(whole.run_epoch(kOn));
  EXPECT_EQ(whole.epoch_report().images, 80);
  EXPECT_EQ(whole.steps_done(), 10);
}

TEST(Trainer, LearnsAndReports) {
  const data::ImageSet set = pictures(96);
  TrainerOptions options = small_options("softmax");
  options.optimizer = "sgd";
  Trainer trainer(options, set, data::all_images(set));
  EXPECT_EQ(trainer.steps_per_epoch(), 6);
  double first_loss = 0;
  for (int epoch = 1; epoch <= 6; ++epoch) {
    Index steps = 0;
    ASSERT_TRUE(trainer.run_epoch([&](const StepReport& step) {
      EXPECT_EQ(step.step, (epoch - 1) * 6 + ++steps);
      EXPECT_EQ(step.epoch, epoch);
      EXPECT_GT(step.rate, 0);
      EXPECT_GT(step.penultimate_norm, 0);
      return true;
    }));
    if (epoch == 1) first_loss = trainer.epoch_report().loss;
  }
  EXPECT_EQ(trainer.epochs_done(), 6);
  EXPECT_LT(trainer.epoch_report().loss, 0.7 * first_loss);
  EXPECT_EQ(trainer.epoch_report().images, 96);
  const Evaluation evaluation = trainer.evaluate(set, data::all_images(set));
  EXPECT_EQ(evaluation.count, 96);
  EXPECT_GT(evaluation.accuracy, 0.6);
}

class TrainerResume : public testing::TestWithParam<std::string> {};

TEST_P(TrainerResume, ContinuesBitForBitFromTheMiddleOfAnEpoch) {
  const data::ImageSet set = pictures(80);
  TrainerOptions options = small_options("mnist-cnn");
  options.optimizer = GetParam();
  options.controller.rule_options.first_rate = 0.01;
  if (!optimizer_info(GetParam()).computed_rate) options.policy = Policy::baseline;
  if (GetParam() == "adashift") options.settings = {{"delay", 2}};  // so that the third step moves something
  Trainer whole(options, set, data::all_images(set)), begun(options, set, data::all_images(set)),
      resumed(options, set, data::all_images(set));
  for (int epoch = 0; epoch < 3; ++epoch) whole.run_epoch(kOn);

  const std::string path = testing::TempDir() + "/trainer.safetensors";
  EXPECT_FALSE(begun.run_epoch([](const StepReport& step) { return step.step < 3; }));
  begun.save(path, {{"a note", "of mine"}});
  EXPECT_EQ(resumed.load(path).at("a note"), "of mine");
  EXPECT_EQ(resumed.steps_done(), 3);
  for (int epoch = 0; epoch < 3; ++epoch) resumed.run_epoch(kOn);
  EXPECT_EQ(weights_of(whole), weights_of(resumed));
  EXPECT_EQ(whole.epoch_report().loss, resumed.epoch_report().loss);
  EXPECT_EQ(whole.epoch_report().rate, resumed.epoch_report().rate);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, TrainerResume, testing::ValuesIn(optimizer_names()), [](const auto& given) {
  std::string name = given.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Trainer, APassBeforeEachEpochMeasuresTheImagesAsTheyAre) {
  const data::ImageSet set = pictures(64);
  TrainerOptions options = small_options("softmax");
  options.optimizer = "sgd";
  options.controller.rule_options.first_rate = std::nullopt;
  options.measure = Measure::pass;
  Trainer trainer(options, set, data::all_images(set));
  trainer.run_epoch(kOn);
  // The softmax network's penultimate activations are the pixels; the first batch of images in their order.
  double largest = 0;
  for (Index batch = 0; batch < 4; ++batch) {
    double squares = 0;
    for (Index i = batch * 16 * 144; i < (batch + 1) * 16 * 144; ++i) {
      const double pixel = set.pixels[static_cast<std::size_t>(i)] / 255.0;
      squares += pixel * pixel;
    }
    largest = std::max(largest, std::sqrt(squares));
  }
  EXPECT_NEAR(trainer.epoch_report().numbers.penultimate_norm, largest, 1e-5 * largest);
  EXPECT_NEAR(trainer.epoch_report().rate, 1 / (2.0 / (3 * 16) * largest), 1e-5);
  EXPECT_GT(trainer.epoch_report().measure_seconds, 0);
}

TEST(Trainer, ABaselineKeepsItsRateButForTheDecay) {
  const data::ImageSet set = pictures(64);
  TrainerOptions options = small_options("mlp-8");
  options.optimizer = "sgd";
  options.policy = Policy::baseline;
  options.controller.rule_options.decay = 0.5;
  Trainer trainer(options, set, data::all_images(set));
  for (int epoch = 0; epoch < 2; ++epoch) {
    trainer.run_epoch([](const StepReport& step) {
      EXPECT_DOUBLE_EQ(step.rate, 0.01 / (1 + 0.5 * static_cast<double>(step.step - 1)));
      return true;
    });
  }
}

TEST(Trainer, AScheduleMultipliesTheDecayedRateOfABaselineStepByStep) {
  const data::ImageSet set = pictures(64);  // 4 steps an epoch
  TrainerOptions options = small_options("mlp-8");
  options.policy = Policy::baseline;
  options.controller.rule_options.decay = 0.5;
  options.schedule_epochs = 2;
  const std::map<rate::Schedule, std::vector<double>> factors = {
      {rate::Schedule::step, {1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01}},
      // (1 + cos(pi t/8)) / 2
      {rate::Schedule::cosine,
       {1, 0.9619397662556434, 0.8535533905932737, 0.6913417161825449, 0.5, 0.3086582838174551, 0.14644660940672624,
        0.03806023374435663}}};
  for (const std::string optimizer : {"adamo", "momentum", "adabound"}) {
    for (const auto& [schedule, expected] : factors) {
      options.optimizer = optimizer;
      options.controller.schedule = schedule;
      Trainer trainer(options, set, data::all_images(set));
      std::size_t steps = 0;
      for (int epoch = 0; epoch < 2; ++epoch) {
        trainer.run_epoch([&](const StepReport& step) {
          const double rate = default_rate(optimizer) / (1 + 0.5 * static_cast<double>(steps));
          EXPECT_NEAR(step.rate, rate * expected[steps], 1e-14) << optimizer << ", step " << steps;
          ++steps;
          return true;
        });
      }
      EXPECT_EQ(steps, expected.size());
    }
  }
}

TEST(Trainer, RefusesComputedRatesForAnOptimizerWithStepSizesOfItsOwn) {
  const data::ImageSet set = pictures(64);
  TrainerOptions options = small_options("mlp-8");
  options.optimizer = "adadelta";
  for (const Policy policy : {Policy::fixed, Policy::adaptive}) {
    options.policy = policy;
    EXPECT_THROW(Trainer(options, set, data::all_images(set)), Error);
  }
  options.policy = Policy::baseline;
  EXPECT_NO_THROW(Trainer(options, set, data::all_images(set)));
}

TEST(Trainer, StopsWithTheNumbersWhenTheLossIsNotFinite) {
  const data::ImageSet set = pictures(64);
  TrainerOptions options = small_options("softmax");
  options.policy = Policy::baseline;
  options.baseline_rate = 1e38;
  Trainer trainer(options, set, data::all_images(set));
  try {
    for (int epoch = 0; epoch < 3; ++epoch) trainer.run_epoch(kOn);
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::training);
    EXPECT_NE(std::string(error.what()).find("step "), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("1e+38"), std::string::npos);
  }
}

TEST(Trainer, RefusesDamagedAndForeignCheckpointsAndStaysAsItWas) {
  const data::ImageSet set = pictures(48);
  const std::string path = testing::TempDir() + "/refused.safetensors";
  Trainer trainer(small_options("mlp-8"), set, data::all_images(set));
  trainer.run_epoch(kOn);
  trainer.save(path, {});
  const std::string good = read_file(path), before = weights_of(trainer);
  const auto refused = [&](const std::string& content) {
    write_file_atomically(path, content);
    EXPECT_THROW(trainer.load(path), Error);
    EXPECT_EQ(weights_of(trainer), before);
  };
  refused("");
  refused(good.substr(0, good.size() / 2));
  std::string flipped = good;
  flipped[flipped.size() - 100] ^= 1;
  refused(flipped);
  Trainer other(small_options("mlp-9"), set, data::all_images(set));
  other.save(path, {});
  refused(read_file(path));
  trainer.save_weights(path);
  EXPECT_THROW(trainer.load(path), Error);
  EXPECT_NO_THROW(trainer.load_weights(path));
  EXPECT_THROW(trainer.load(path + ".missing"), Error);
}

TEST(Trainer, RefusesOptionsThatMakeNoSense) {
  const data::ImageSet set = pictures(48);
  TrainerOptions options = small_options("mlp-8");
  EXPECT_THROW(Trainer(options, set, {}), Error);
  options.batch = 1;
  EXPECT_THROW(Trainer(options, set, data::all_images(set)), Error);
  options = small_options("mlp-8");
  options.optimizer = "magic";
  EXPECT_THROW(Trainer(options, set, data::all_images(set)), Error);
}

}  // namespace
}  // namespace lipschitzlr::nn

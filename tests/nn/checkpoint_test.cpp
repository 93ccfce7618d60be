// Checkpoints that someone else has made: none of them may do more than be refused.
#include <ATen/Functions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/nn/safetensors.hpp"
#include "lipschitzlr/nn/trainer.hpp"

namespace lipschitzlr::nn {
namespace {

using nlohmann::json;

constexpr Index kImages = 40, kBatch = 16;  // 3 steps an epoch

data::ImageSet noise() {
  data::ImageSet set;
  set.height = set.width = 4;
  set.channels = 1;
  set.classes = {"even", "odd"};
  for (Index i = 0; i < kImages; ++i) {
    set.labels.push_back(static_cast<std::int32_t>(i % 2));
    for (Index pixel = 0; pixel < 16; ++pixel) set.pixels.push_back(static_cast<std::uint8_t>(i * 37 + pixel * 91));
  }
  return set;
}

// The sum that a checkpoint carries: it shows damage, and stops nobody who means harm.
std::string checksum(const SafetensorsFile& file) {
  Sha256 sum;
  for (const auto& [name, text] : file.metadata) {
    if (name != "checksum") sum.add(fmt::format("{}={}\n", name, text));
  }
  for (const auto& [name, tensor] : file.tensors) {
    sum.add(name);
    sum.add({static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()});
  }
  return sum.finish();
}

class Crafted : public testing::Test {
 protected:
  explicit Crafted(const std::string& optimizer = "adashift") : set_(noise()) {
    TrainerOptions options;
    options.network = "mlp-8";
    options.optimizer = optimizer;
    options.policy = Policy::baseline;
    options.settings = {{"delay", 2}};
    options.batch = kBatch;
    options.threads = 1;
    trainer_ = std::make_unique<Trainer>(options, set_, data::all_images(set_));
    trainer_->run_epoch([](const StepReport&) { return true; });
    trainer_->run_epoch([](const StepReport& step) { return step.step < 5; });
    trainer_->save(path_, {});
  }

  void write(const std::function<void(SafetensorsFile&)>& change) {
    SafetensorsFile file = load_safetensors(path_);
    const SafetensorsFile good = file;
    change(file);
    file.metadata["checksum"] = checksum(file);
    save_safetensors(crafted_, file.tensors, file.metadata);
  }
  std::string refusal() {
    try {
      trainer_->load(crafted_);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(crafted_ + ": ")) << error.what();
      return error.what();
    }
    return "accepted";
  }
  // Refused, and the trainer is as it was.
  void expect_refused(const std::function<void(SafetensorsFile&)>& change, const std::string& why) {
    write(change);
    EXPECT_NE(refusal().find(why), std::string::npos) << refusal();
    trainer_->save(after_, {});
    EXPECT_EQ(checksum(load_safetensors(after_)), checksum(load_safetensors(path_)));
  }
  void expect_refused_json(const std::string& note, const std::function<void(json&)>& change, const std::string& why) {
    expect_refused(
        [&](SafetensorsFile& file) {
          json tree = json::parse(file.metadata.at(note));
          change(tree);
          file.metadata[note] = tree.dump();
        },
        why);
  }

  data::ImageSet set_;
  std::string path_ = testing::TempDir() + "/good.safetensors", crafted_ = testing::TempDir() + "/crafted.safetensors",
              after_ = testing::TempDir() + "/after.safetensors";
  std::unique_ptr<Trainer> trainer_;
};

TEST_F(Crafted, AnUnchangedOneLoads) {
  write([](SafetensorsFile&) {});
  EXPECT_EQ(refusal(), "accepted");
  EXPECT_EQ(trainer_->steps_done(), 5);
}

TEST_F(Crafted, APositionOutsideOfTheTrainingIsRefused) {
  const std::vector<std::pair<std::string, json>> wrong = {
      {"batch", -5},   {"batch", 4},    {"batch", 1ull << 63}, {"batch", 1.5},      {"batch", "2"},
      {"batch", 1},    {"epoch", 0},    {"epoch", -1},         {"epoch", 3},        {"epoch", 1ull << 62},
      {"step", 6},     {"step", -5},    {"seen", 0},           {"seen", -32},       {"seen", 1e9},
      {"correct", 33}, {"correct", -1}, {"loss_sum", -1},      {"last_rate", -0.1}, {"start_rate", -0.1},
  };
  for (const auto& [name, value] : wrong) {
    SCOPED_TRACE(fmt::format("{} = {}", name, value.dump()));
    expect_refused_json(
        "position", [&](json& position) { position[name] = value; }, "position");
  }
  expect_refused_json(
      "position", [](json& position) { position.erase("seen"); }, "position");
  expect_refused_json(
      "position", [](json& position) { position["loss_sum"] = "much"; }, "position");
  expect_refused([](SafetensorsFile& file) { file.metadata["position"] = "[]"; }, "position");
}

TEST_F(Crafted, OptimizerStateThatDoesNotFitIsRefused) {
  const auto refused = [&](const std::function<void(json&)>& change) {
    expect_refused_json("optimizer", change, "the saved state of the");
  };
  refused([](json& saved) { saved["optimizer"] = "adam"; });
  refused([](json& saved) { saved["groups"] = json::array(); });
  refused([](json& saved) { saved["groups"].push_back(saved["groups"][0]); });
  refused([](json& saved) { saved["groups"][0]["steps"].push_back(1); });
  refused([](json& saved) { saved["groups"][0]["steps"][0] = -1; });
  refused([](json& saved) { saved["groups"][0]["steps"][0] = 0; });  // which has tensors
  refused([](json& saved) { saved["groups"][0]["steps"][0] = 0.5; });
  refused([](json& saved) { saved["groups"][0]["steps"][0] = ~0ull; });
  refused([](json& saved) { saved["groups"][0]["weight_decay"] = -1; });
  refused([](json& saved) { saved["groups"][0]["scale"] = nullptr; });
  refused([](json& saved) { saved["groups"][0].erase("settings"); });
  refused([](json& saved) { saved["rate"]["steps"] = -1; });
  refused([](json& saved) { saved["rate"]["rule"]["options"]["rate"] = 0; });
  refused([](json& saved) { saved["rate"].erase("tap"); });
}

// A delay of 0 is divided by.
TEST_F(Crafted, SettingsOutOfRangeAreRefused) {
  for (const json& delay : {json(0), json(-1), json(1e300), json(2.5)}) {
    expect_refused_json(
        "optimizer", [&](json& saved) { saved["groups"][0]["settings"]["delay"] = delay; }, "delay");
  }
  expect_refused_json(
      "optimizer", [](json& saved) { saved["groups"][0]["settings"]["beta9"] = 1; }, "beta9");
}

TEST_F(Crafted, TensorsOfParametersThatAreNotThereAreRefused) {
  const auto with_tensor = [&](const std::string& name, const at::Tensor& tensor) {
    expect_refused([&](SafetensorsFile& file) { file.tensors.emplace_back(name, tensor); }, "the saved state of the");
  };
  const at::Tensor some = at::zeros({8, 16});
  for (const char* name :
       {"optimizer 9.0.average", "optimizer 0.99.average", "optimizer -1.0.average", "optimizer 0.0", "optimizer ",
        "optimizer x", "optimizer 99999999999999999999.0.average", "optimizer archive"}) {
    SCOPED_TRACE(name);
    with_tensor(name, some);
  }
  with_tensor("optimizer 0.0.average", at::zeros({8, 15}));
  with_tensor("optimizer 0.0.average", at::zeros({8, 16}, at::kLong));
  with_tensor("optimizer 0.0.average", at::zeros({}, at::kLong));
}

// What is missing is as at the start, and never an access outside.
TEST_F(Crafted, OptimizerTensorsThatAreMissingAreZeros) {
  write([](SafetensorsFile& file) {
    std::erase_if(file.tensors, [](const auto& named) { return named.first.ends_with(".gradient 0"); });
  });
  EXPECT_EQ(refusal(), "accepted");
  EXPECT_TRUE(trainer_->run_epoch([](const StepReport&) { return true; }));
}

TEST_F(Crafted, TextThatIsNestedDeeplyIsRefused) {
  for (const char* note : {"position", "optimizer"}) {
    expect_refused(
        [&](SafetensorsFile& file) { file.metadata[note] = std::string(100000, '[') + std::string(100000, ']'); },
        ": ");
  }
  expect_refused(
      [&](SafetensorsFile& file) {
        json saved = json::parse(file.metadata.at("optimizer"));
        const std::string rule = saved["rate"]["rule"].dump(),
                          deep = std::string(100000, '[') + std::string(100000, ']');
        std::string& text = file.metadata["optimizer"] = saved.dump();
        text.replace(text.find(rule), rule.size(), deep);
      },
      ": ");
}

// The older format had a libtorch archive in it, whose code libtorch runs when it reads it: it is not even opened.
TEST_F(Crafted, AnOlderCheckpointIsRefusedButItsWeightsCanBeUsed) {
  write([](SafetensorsFile& file) {
    file.metadata["format"] = "lipschitzlr checkpoint 1";
    file.metadata["rate"] = "{}";
    std::erase_if(file.tensors, [](const auto& named) { return named.first.starts_with("optimizer "); });
    file.tensors.emplace_back("optimizer archive", at::zeros({100}, at::kByte));
  });
  EXPECT_EQ(refusal(),
            fmt::format("{0}: was made by an older version of lipschitzlr, whose checkpoints can't be resumed; "
                        "start again with these weights: --weights {0}",
                        crafted_));
  EXPECT_NO_THROW(trainer_->load_weights(crafted_));
}

}  // namespace
}  // namespace lipschitzlr::nn

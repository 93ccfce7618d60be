#include "lipschitzlr/experiment/network_runner.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::experiment {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string after(const Words& words, const std::string& option) {
  const auto found = std::find(words.begin(), words.end(), option);
  return found == words.end() ? "" : *(found + 1);
}

// Stands in for the libtorch part: notes what it is asked for and leaves the record that `train` would leave.
class NetworkRunner : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    limits.records = folder.string();
    limits.data = "images";  // so that no data are needed
  }
  void TearDown() override { fs::remove_all(folder); }

  int train(const Words& words) {
    const bool resumes = !after(words, "--resume").empty();
    const std::string place = resumes ? after(words, "--resume") : after(words, "-o");
    asked.push_back(fs::path(place).filename().string() + " " + after(words, "--epochs") + (resumes ? " more" : ""));
    fs::create_directories(place);
    if (!resumes) {
      const nlohmann::json options = {{"data", after(words, "--data")},
                                      {"protocol", after(words, "--protocol")},
                                      {"limit", 0},
                                      {"seed", std::stoi(after(words, "--seed"))}};
      write_file_atomically(place + "/config.json",
                            nlohmann::json{{"kind", "network training"}, {"options", options}}.dump());
    }
    std::string lines;
    for (int epoch = 1; epoch <= std::stoi(after(words, "--epochs")) && code != 4; ++epoch) {
      lines += nlohmann::json{{"kind", "epoch"}, {"epoch", epoch}, {"step", epoch}}.dump() + "\n";
    }
    write_file_atomically(place + "/metrics.jsonl", lines);
    if (code != 4) write_file_atomically(place + "/checkpoint.safetensors", "");
    return code;
  }

  std::vector<NetworkTask> tasks_of(const Words& names) {
    std::vector<NetworkTask> tasks = plan(select_recipes("table3", names), limits, collect({limits.records}).records);
    for (NetworkTask& task : tasks) task.epoch_seconds = task.recipe.network->optimizer == "sgd" ? 1000 : 10;
    return tasks;
  }

  bool run(std::vector<NetworkTask>& tasks) {
    return run_tasks(
        tasks, limits, [&](const Words& words, const Interrupt&, std::string*) { return train(words); }, {},
        [&] { return stopped; });
  }

  const fs::path folder = fs::temp_directory_path() / ("lipschitzlr-runner-" + std::to_string(getpid()));
  Limits limits;
  std::vector<std::string> asked;
  int code = 0;
  bool stopped = false;
};

const char* const kSgd = "mnist-cnn-sgd-adaptive";
const char* const kAdamo = "mnist-cnn-adamo-adaptive";

TEST_F(NetworkRunner, WithoutABudgetOneIsFinishedAfterTheOther) {
  limits.epochs = 3;
  limits.seeds = 2;
  std::vector<NetworkTask> tasks = tasks_of({kSgd, kAdamo});
  EXPECT_TRUE(run(tasks));
  EXPECT_EQ(asked, (Words{"mnist-cnn-sgd-adaptive-coded-1-try 3", "mnist-cnn-sgd-adaptive-coded-2-try 3",
                          "mnist-cnn-adamo-adaptive-coded-1-try 3", "mnist-cnn-adamo-adaptive-coded-2-try 3"}));
}

TEST_F(NetworkRunner, ABudgetGoesRoundTheQuickestFirst) {
  limits.epochs = 5;
  limits.seconds = 1e6;
  std::vector<NetworkTask> tasks = tasks_of({kSgd, kAdamo});
  EXPECT_TRUE(run(tasks));
  EXPECT_EQ(asked, (Words{"mnist-cnn-adamo-adaptive-coded-1-try 1", "mnist-cnn-sgd-adaptive-coded-1-try 1",
                          "mnist-cnn-adamo-adaptive-coded-1-try 2 more", "mnist-cnn-sgd-adaptive-coded-1-try 2 more",
                          "mnist-cnn-adamo-adaptive-coded-1-try 4 more", "mnist-cnn-sgd-adaptive-coded-1-try 4 more",
                          "mnist-cnn-adamo-adaptive-coded-1-try 5 more", "mnist-cnn-sgd-adaptive-coded-1-try 5 more"}));
}

TEST_F(NetworkRunner, AnEpochThatDoesNotFitIsNotBegun) {
  limits.epochs = 100;
  limits.seconds = 999;
  std::vector<NetworkTask> tasks = tasks_of({kSgd});
  EXPECT_TRUE(run(tasks));
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(tasks[0].done, 0);
  EXPECT_NEAR(tasks[0].hours_left(), 100 * 1000 / 3600.0, 1e-9);
}

TEST_F(NetworkRunner, ALaterCallGoesOnWithTheRecords) {
  limits.epochs = 2;
  std::vector<NetworkTask> first = tasks_of({kAdamo});
  run(first);
  limits.epochs = 4;
  std::vector<NetworkTask> second = tasks_of({kAdamo});
  EXPECT_EQ(second[0].done, 2);
  run(second);
  EXPECT_EQ(asked.back(), "mnist-cnn-adamo-adaptive-coded-1-try 4 more");
  run(second);
  EXPECT_EQ(asked.size(), 2u);
}

TEST_F(NetworkRunner, ARecordWithoutACheckpointIsBegunAgainUnlessItHasEpochs) {
  const fs::path place = folder / "mnist-cnn-adamo-adaptive-coded-1-try";
  limits.epochs = 2;
  std::vector<NetworkTask> tasks = tasks_of({kAdamo});
  run(tasks);
  fs::remove(place / "checkpoint.safetensors");
  std::vector<NetworkTask> kept = tasks_of({kAdamo});
  EXPECT_FALSE(kept[0].open());
  write_file_atomically(place / "metrics.jsonl", "");
  std::vector<NetworkTask> again = tasks_of({kAdamo});
  run(again);
  EXPECT_EQ(asked.back(), "mnist-cnn-adamo-adaptive-coded-1-try 2");
}

TEST_F(NetworkRunner, AFailedTrainingIsRememberedAndNotTriedAgain) {
  limits.epochs = 2;
  code = 4;
  std::vector<NetworkTask> tasks = tasks_of({kSgd, kAdamo});
  EXPECT_TRUE(run(tasks));
  EXPECT_EQ(asked.size(), 2u);
  EXPECT_EQ(tasks[0].failure, "the loss became NaN or infinite after 0 whole epochs");
  const std::vector<NetworkTask> again = tasks_of({kSgd});
  EXPECT_EQ(again[0].failure, tasks[0].failure);
  EXPECT_FALSE(again[0].open());
}

TEST_F(NetworkRunner, WhatCanNotRunAtAllEndsTheCommand) {
  code = 3;
  std::vector<NetworkTask> tasks = tasks_of({kSgd, kAdamo});
  EXPECT_THROW(run(tasks), Error);
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(NetworkRunner, AfterAnInterruptNothingMoreIsBegun) {
  stopped = true;
  code = 130;
  std::vector<NetworkTask> tasks = tasks_of({kSgd, kAdamo});
  EXPECT_FALSE(run(tasks));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(NetworkRunner, ARecordWithOtherOptionsIsNotTouched) {
  std::vector<NetworkTask> tasks = tasks_of({kAdamo});
  run(tasks);
  limits.images = 100;
  EXPECT_THROW(tasks_of({kAdamo}), Error);
}

TEST_F(NetworkRunner, ATrainingUnderAnotherNameIsNotRunAgain) {
  limits.data = "";
  limits.epochs = 1;
  fs::create_directories(folder / "mine");
  write_file_atomically(folder / "mine" / "config.json", R"({"kind": "network training", "options": {"data": "mnist",
    "network": "mnist-cnn", "optimizer": "sgd", "policy": "adaptive", "protocol": "coded", "decay": 0, "limit": 0,
    "batch": 256, "first_rate": "none", "seed": 1}})");
  write_file_atomically(folder / "mine" / "metrics.jsonl", "{\"kind\": \"epoch\", \"epoch\": 1, \"step\": 1}\n");
  EXPECT_EQ(tasks_of({kSgd})[0].done, 1);
  limits.epochs = 2;  // without a checkpoint it can't go on
  EXPECT_EQ(tasks_of({kSgd})[0].done, 0);
  write_file_atomically(folder / "mine" / "checkpoint.safetensors", "");
  EXPECT_EQ(tasks_of({kSgd})[0].folder, (folder / "mine").string());
  std::string config = read_file(folder / "mine" / "config.json");
  config.replace(config.find("\"limit\": 0"), 10, "\"limit\": null");  // as newer records have it
  write_file_atomically(folder / "mine" / "config.json", config);
  EXPECT_EQ(tasks_of({kSgd})[0].done, 1);
  fs::copy(folder / "mine", folder / "shorter");
  write_file_atomically(folder / "shorter" / "metrics.jsonl", "");
  EXPECT_EQ(tasks_of({kSgd})[0].folder, (folder / "mine").string()) << "the one with the most epochs";
}

// Of seed 2, without a checkpoint: nothing to go on with, but the row has its two epochs.
TEST_F(NetworkRunner, ABudgetGoesFirstToRowsThatNoRecordHasThatFar) {
  limits.data = "";
  limits.epochs = 4;
  limits.seconds = 1e6;
  fs::create_directories(folder / "mine");
  write_file_atomically(folder / "mine" / "config.json", R"({"kind": "network training", "options": {"data": "mnist",
    "network": "mnist-cnn", "optimizer": "auto-adam", "policy": "adaptive", "protocol": "coded", "decay": 0,
    "limit": 0, "batch": 256, "first_rate": "none", "seed": 2}})");
  write_file_atomically(
      folder / "mine" / "metrics.jsonl",
      "{\"kind\": \"epoch\", \"epoch\": 1, \"step\": 1}\n{\"kind\": \"epoch\", \"epoch\": 2, \"step\": 2}\n");
  std::vector<NetworkTask> tasks = tasks_of({"mnist-cnn-auto-adam-adaptive", kSgd});
  for (NetworkTask& task : tasks) task.absent.clear();
  EXPECT_TRUE(run(tasks));
  EXPECT_EQ(asked, (Words{"mnist-cnn-sgd-adaptive-coded-1 1", "mnist-cnn-sgd-adaptive-coded-1 2 more",
                          "mnist-cnn-auto-adam-adaptive-coded-1 4", "mnist-cnn-sgd-adaptive-coded-1 4 more"}));
}

// By hand: 60000 images at 2 ms, 10000 test images and, for the pass, 60000 again at 1 ms.
TEST_F(NetworkRunner, AnEpochIsEstimatedFromSteps) {
  limits.data = "";
  limits.protocols = {"coded", "published"};
  std::vector<NetworkTask> tasks = plan(select_recipes("table3", {kSgd}), limits, {});
  const std::vector<run::NetworkSpeed> wanted = wanted_speeds(tasks);
  ASSERT_EQ(wanted.size(), 1u);
  EXPECT_EQ(wanted[0].network, "mnist-cnn");
  const auto speeds = run::speeds_from(R"([{"data": "mnist", "network": "mnist-cnn", "batch": 256,
                                           "step_seconds": 0.002, "forward_seconds": 0.001}])");
  EXPECT_NEAR(epoch_seconds(tasks[0].recipe, "coded", speeds, limits), 120 + 70, 1e-9);
  // Published: measured in the steps, a tenth set aside.
  EXPECT_NEAR(epoch_seconds(tasks[0].recipe, "published", speeds, limits), 108 + 6, 1e-9);
  EXPECT_EQ(epoch_seconds(tasks[0].recipe, "coded", {}, limits), 0);
  EXPECT_EQ(run::speeds_from(run::to_json(speeds))[0].forward, 0.001);
  EXPECT_THROW(run::speeds_from("nothing"), Error);
}

}  // namespace
}  // namespace lipschitzlr::experiment

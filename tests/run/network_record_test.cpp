#include "lipschitzlr/run/network_record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::run {
namespace {

namespace fs = std::filesystem;

class NetworkRecords : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder);
    put("config.json", R"({"kind": "network training", "command": ["train", "--data", "mnist"], "options":
      {"data": "mnist", "decay": 0.001, "l2": null, "limit": 0, "hold_averages": false}, "training_images": 60000})");
    put("metrics.jsonl", std::string(R"({"kind": "step", "epoch": 1, "step": 50})") + "\n" + kEpoch);
  }
  void TearDown() override { fs::remove_all(folder); }
  void put(const std::string& name, const std::string& content) { write_file_atomically(folder / name, content); }
  NetworkRecord read() const { return read_network_record(folder.string()); }

  const std::string kEpoch =
      R"({"kind": "epoch", "epoch": 1, "step": 235, "loss": null, "val_accuracy": 0.9, "rate": 2.5, "K_z": 3})"
      "\n";
  const fs::path folder = fs::temp_directory_path() / ("lipschitzlr-record-" + std::to_string(getpid()));
};

TEST_F(NetworkRecords, AreReadBack) {
  NetworkRecord record = read();
  EXPECT_EQ(record.problem, "");
  EXPECT_EQ(record.command.size(), 3u);
  EXPECT_EQ(record.option("data"), "mnist");
  EXPECT_EQ(record.number("decay"), 0.001);
  EXPECT_EQ(record.option("l2"), "");
  EXPECT_EQ(record.option("hold_averages"), "false");
  EXPECT_EQ(record.option("no such option"), "");
  EXPECT_EQ(record.training_images, 60000);
  ASSERT_EQ(record.epochs.size(), 1u);
  EXPECT_TRUE(std::isinf(record.epochs[0].loss));
  EXPECT_EQ(record.epochs[0].val_accuracy, 0.9);
  EXPECT_EQ(record.epochs[0].penultimate_norm, 3);
  EXPECT_FALSE(record.finished);
  put("summary.json", "{}");
  put(kFailureFile, "the loss is not finite\n");
  EXPECT_TRUE(read().finished);
  EXPECT_EQ(read().failure, "the loss is not finite");
}

TEST_F(NetworkRecords, ALineThatAKilledRunLeftHalfWrittenIsNoFault) {
  put("metrics.jsonl", kEpoch + R"({"kind": "epoch", "ep)");
  EXPECT_EQ(read().problem, "");
  EXPECT_EQ(read().epochs.size(), 1u);
}

TEST_F(NetworkRecords, DamageIsToldWithItsPlaceAndTheRestStands) {
  put("metrics.jsonl", kEpoch + "damage\n" + kEpoch);
  EXPECT_EQ(read().problem, folder.string() + "/metrics.jsonl: line 2 is damaged");
  EXPECT_EQ(read().epochs.size(), 2u);
  put("metrics.jsonl", R"({"kind": "epoch", "epoch": "first"})"
                       "\n");
  EXPECT_EQ(read().problem, folder.string() + "/metrics.jsonl: is not that of a network training");
  put("config.json", "damage");
  EXPECT_EQ(read().problem, folder.string() + "/config.json: is not that of a network training");
  put("config.json", R"({"kind": "fit"})");
  EXPECT_EQ(read().problem, folder.string() + ": is the record of another kind of run");
  fs::remove(folder / "config.json");
  EXPECT_NE(read().problem.find("config.json"), std::string::npos);
}

TEST_F(NetworkRecords, AreFoundInAFolderOfFolders) {
  fs::create_directories(folder / "b");
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "empty");
  fs::rename(folder / "config.json", folder / "b" / "config.json");
  put("a/config.json", "damage");
  const std::vector<NetworkRecord> records = read_network_records(folder.string());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_NE(records[0].problem, "");
  EXPECT_EQ(records[1].option("data"), "mnist");
  EXPECT_TRUE(read_network_records("no such folder").empty());
}

}  // namespace
}  // namespace lipschitzlr::run

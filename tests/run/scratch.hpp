#pragma once
// A folder of a test's own with records in it, gone after the test.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace lipschitzlr {

class Scratch : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }

  // A sound record of two epochs, to be spoilt.
  void write_network_record(const std::string& name) {
    write(name + "/config.json", R"({"kind": "network training",
      "command": ["train", "--data", "cifar10", "-o", "runs/a b"],
      "options": {"data": "cifar10", "network": "resnet20-v1", "optimizer": "adamo", "policy": "adaptive",
                  "protocol": "coded", "epochs": 2, "decay": 0.001, "seed": 7, "threads": 2}})");
    write(name + "/metrics.jsonl", "{\"kind\":\"step\",\"epoch\":1,\"step\":50,\"loss\":9}\n" +
                                       epoch_line(1, "1.5", "0.4", "null") + epoch_line(2, "null", "0.5", "3"));
    write(name + "/summary.json", R"({"stopped": "epochs done", "epochs": 2, "seconds": 12.5})");
  }

  static std::string epoch_line(int epoch, const std::string& loss, const std::string& accuracy,
                                const std::string& norm) {
    return "{\"kind\":\"epoch\",\"epoch\":" + std::to_string(epoch) + ",\"step\":" + std::to_string(391 * epoch) +
           ",\"loss\":" + loss + ",\"penalty\":0.1,\"accuracy\":0.3,\"val_loss\":1.4,\"val_accuracy\":" + accuracy +
           ",\"rate\":1.25,\"last_rate\":1,\"K_z\":" + norm +
           ",\"max_w\":2,\"train_seconds\":10,\"measure_seconds\":1,\"validate_seconds\":2" +
           (epoch == 2 ? ",\"later\":5}\n" : "}\n");
  }

  std::string folder = testing::TempDir() + "lipschitzlr_scratch_" + std::to_string(getpid());
};

}  // namespace lipschitzlr

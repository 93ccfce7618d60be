#pragma once
// The record of a network training, read back from its folder (run/record.hpp) without libtorch. Nothing throws: what
// is missing, damaged or half written is told in a sentence, and what is readable stands.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lipschitzlr::run {

inline constexpr const char* kNetworkTraining = "network training";  // the "kind" in config.json

// A line of kind "epoch" of metrics.jsonl. Numbers that JSON could not hold (infinity, NaN) are infinity.
struct EpochLine {
  std::int64_t epoch = 0, step = 0;
  double loss = 0, penalty = 0, accuracy = 0, val_loss = 0, val_accuracy = 0;  // accuracies are shares
  double rate = 0, last_rate = 0;                                              // computed; used in the last step
  double penultimate_norm = 0, weight_norm = 0;                                // K_z, max ||w||
  double train_seconds = 0, measure_seconds = 0, validate_seconds = 0;
};

struct NetworkRecord {
  std::string folder;
  std::string problem;  // a sentence; empty when the record is sound, finished or not
  std::vector<std::string> command;
  std::map<std::string, std::string> options;  // every option of `train` by its name in config.json, as text; null: ""
  std::int64_t training_images = 0;
  std::string validated_on;
  std::vector<EpochLine> epochs;
  bool finished = false;  // summary.json is there: the epochs asked for are done
  std::string failure;    // why the training ended in itself: failure.txt, a sentence; empty when it did not

  std::string option(const std::string& name) const;  // "" when there is none
  double number(const std::string& name) const;       // of an option; 0 when there is none
};

NetworkRecord read_network_record(const std::string& folder);

// Those of all folders in a folder, and of the folder itself, that hold the record of a network training; by path.
std::vector<NetworkRecord> read_network_records(const std::string& folder);

// Where read_network_record finds why a training failed; written by whoever started it.
inline constexpr const char* kFailureFile = "failure.txt";

}  // namespace lipschitzlr::run

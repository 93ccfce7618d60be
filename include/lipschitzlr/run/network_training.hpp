#pragma once
// One training of a network from start to end, or from a checkpoint to the end: data, trainer, progress, record,
// checkpoints, and the result. Its folder holds the record (run/record.hpp), checkpoint.safetensors (to resume
// from), best.safetensors and weights.safetensors (weights alone: of the best epoch, and of the last), and for a table
// table.json (network_table.hpp).

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/linear/evaluation.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::run {

struct TrainResult {
  TrainOptions options;
  std::string folder;
  bool interrupted = false;
  std::int64_t epochs = 0, steps = 0;
  Index parameters = 0;
  int processes = 1;
  nn::EpochReport last;
  nn::Evaluation best, final_validation;
  std::int64_t best_epoch = 0;
  linear::Family family = linear::Family::softmax;  // what is predicted: linear: a number, whose accuracies are R^2
  std::string unit = "images";                      // or "rows" of a table
  double target_deviation = 1;                      // of a number: its losses are those of y / deviation
  std::string validated_on;                         // "the 10000 test images", "5000 training images set aside"
  std::optional<nn::Evaluation> test;               // of the final weights
  std::optional<linear::Evaluation> test_figures;
  double majority_accuracy = 0;      // of the most frequent class, on the validation images
  double seconds = 0;                // of this process
  double images_per_second = 0;      // or rows, in training steps
  std::vector<std::string> remarks;  // warnings given on the way
  std::string json;                  // all of this as a JSON object
};

// "93.21 %", of numbers "R^2 0.9321"
std::string accuracy_text(linear::Family family, double accuracy);

// Throws Error as Trainer does. A training whose loss becomes NaN or infinite throws Error (training) that names the
// last good checkpoint. With several processes the record, and what of the result is only in it, is rank 0's.
TrainResult train_network(const TrainRequest& request);

}  // namespace lipschitzlr::run

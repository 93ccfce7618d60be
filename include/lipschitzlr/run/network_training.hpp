#pragma once
// One training of a network from start to end, or from a checkpoint to the end: data, trainer, progress, record,
// checkpoints, and the result. Its folder holds the record (run/record.hpp), checkpoint.safetensors (to resume
// from), best.safetensors and weights.safetensors (weights alone: of the best epoch, and of the last).

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
  std::string validated_on;            // "the test set", "5000 training images set aside"
  std::optional<nn::Evaluation> test;  // of the final weights
  std::optional<linear::Evaluation> test_figures;
  double majority_accuracy = 0;      // of the most frequent class, on the validation images
  double seconds = 0;                // of this process
  double images_per_second = 0;      // in training steps
  std::vector<std::string> remarks;  // warnings given on the way
  std::string json;                  // all of this as a JSON object
};

// Throws Error as Trainer does. A training whose loss becomes NaN or infinite throws Error (training) that names the
// last good checkpoint. With several processes the record, and what of the result is only in it, is rank 0's.
TrainResult train_network(const TrainRequest& request);

}  // namespace lipschitzlr::run

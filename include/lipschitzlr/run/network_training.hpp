#pragma once
// One training of a network from start to end, or from a checkpoint to the end: data, trainer, progress, record,
// checkpoints, and the account of it. Its folder holds the record (run/record.hpp), checkpoint.safetensors (to resume
// from), best.safetensors and weights.safetensors (weights alone: of the best epoch, and of the last).

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/run/network_choice.hpp"
#include "lipschitzlr/run/progress.hpp"

namespace lipschitzlr::run {

struct NetworkRun {
  NetworkChoice choice;
  std::string folder;                        // of the run; empty: one is made under runs/
  bool resume = false;                       // from the folder's checkpoint, with the choice in its config.json
  std::optional<std::int64_t> more_epochs;   // with resume: the new number of epochs
  std::string weights;                       // to start from; empty: at random
  std::optional<std::int64_t> log_steps;     // a line in the record every so many steps; 0: epochs only; default 50
  std::optional<double> checkpoint_minutes;  // default 5; with resume, both are by default what they were
  std::vector<std::string> command = {};     // the words of the command line, for the record
  Verbosity verbosity = Verbosity::silent;
  bool watch = false;  // plots of loss and rate
  // The processes that train together; null: this one alone. Rank 0 writes the folder and shows progress, the others
  // need not see the folder. All must have the same options and images.
  Communicator* communicator = nullptr;
};

struct NetworkResult {
  NetworkChoice choice;
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
  double majority_accuracy = 0;        // of the most frequent class, on the validation images
  double seconds = 0;                  // of this process
  double images_per_second = 0;        // in training steps
  std::vector<std::string> remarks;    // warnings given on the way
  std::string trials;                  // of rates, when it was found by some, as JSON
};

// Throws Error as Trainer does. A training whose loss leaves the finite numbers throws Error (training) that names the
// last good checkpoint. In a team the record, and what of the result stands only there, is rank 0's.
NetworkResult train_network(const NetworkRun& run);

std::string to_json(const NetworkResult& result);

}  // namespace lipschitzlr::run

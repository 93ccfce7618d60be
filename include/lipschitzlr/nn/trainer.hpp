#pragma once
// Training a network on examples, step by step: batches, forward and backward pass, the optimizer with its computed
// rate, evaluation, checkpoints. Everything random is a function of seed and step, so that a training that was stopped
// anywhere continues bit for bit. With several processes each trains on its share of every batch, and rate, loss and
// weights are those of one process. It writes nothing but checkpoints: records and progress are the business of run/.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/data/batch/batches.hpp"
#include "lipschitzlr/nn/check_counts.hpp"
#include "lipschitzlr/nn/controller.hpp"
#include "lipschitzlr/nn/network_options.hpp"
#include "lipschitzlr/nn/optimizer_registry.hpp"
#include "lipschitzlr/nn/training_loss.hpp"
#include "lipschitzlr/rate/auto.hpp"

namespace lipschitzlr::nn {

enum class Policy { baseline, fixed, adaptive };
// Where K_z comes from: the training steps themselves, or a forward pass of its own over the training images before
// each epoch (without augmentation, in evaluation mode), as the authors' code does.
enum class Measure { in_step, pass };

struct TrainerOptions {
  std::string network = "mnist-cnn";
  NetworkOptions network_options = {};  // the inputs' size and the outputs are filled in from the data
  TrainingLoss loss = TrainingLoss::cross_entropy;
  std::string optimizer = "sgd";    // see optimizer_names()
  OptimizerSettings settings = {};  // of an optimizer that has some
  Policy policy = Policy::adaptive;
  double baseline_rate = 0;           // of the policy baseline; 0: default_rate(optimizer)
  std::int64_t schedule_epochs = 0;   // how long the controller's schedule lasts; its steps are filled in
  double warmup = 0;                  // share of these steps in which the rate rises; they are filled in too
  ControllerOptions controller = {};  // its rule and loss are filled in
  bool correct_averages = false;      // the optimizer's option bias_correction
  bool buffers_in_weight_norm = false;
  Measure measure = Measure::in_step;
  double weight_decay = 0;        // adds weight_decay w to the gradient
  bool decay_some_only = false;   // only of the weights the authors penalize (Network::penalized)
  Index batch = 128;              // of all processes together
  bool drop_last = false;         // leave what makes no whole batch at the end of an epoch to the next one's order
  bool double_precision = false;  // float64 instead of float32
  bool check = false;             // measure every step, see nn/step_check.hpp
  data::Augmentation augmentation = {};  // of images
  bool subtract_mean = false;            // likewise
  std::uint64_t seed = 1;
  unsigned threads = 0;  // 0: all cores
};

struct StepReport {
  std::int64_t epoch = 1, step = 0;         // from 1; steps count over all epochs
  Index images = 0, images_in_epoch = 0;    // examples seen in this epoch so far, and in all of it
  double loss = 0, accuracy = 0;            // of this batch; the accuracy of numbers is R^2
  double mean_loss = 0, mean_accuracy = 0;  // of the epoch so far
  double rate = 0;
  double penultimate_norm = 0;                      // K_z of this batch
  std::optional<rate::AutoNumbers> automatic = {};  // of the optimizer auto
  std::string remark = {};                          // what it has to say of this step
};

struct EpochReport {
  std::int64_t epoch = 1, step = 0;
  Index images = 0;               // examples seen in train_seconds, by all processes
  double loss = 0, accuracy = 0;  // means over the epoch's batches, in training mode
  double penalty = 0;             // weight_decay/2 ||w||^2 at its end
  double rate = 0;                // computed at its start, before decay; of auto that of its first step
  double last_rate = 0;           // of its last step, decay included
  RateNumbers numbers;            // the latest observation
  std::optional<rate::AutoNumbers> automatic = {};                  // of the optimizer auto
  std::optional<CheckCounts> check = {};                            // of the steps since it began here
  double train_seconds = 0, data_seconds = 0, measure_seconds = 0;  // data is part of train
};

// The accuracy of numbers is R^2 = 1 - loss / (the loss of their mean).
struct Evaluation {
  double loss = 0, accuracy = 0;
  Index count = 0;
};

class Trainer {
 public:
  // Trains on the chosen examples, which must outlive the object, as must the communicator; null: one process.
  // With several all processes make the same calls (but save() and save_weights(), which write rank 0's), and begin
  // with rank 0's weights. Throws Error (usage).
  Trainer(const TrainerOptions& options, const data::Examples& examples, std::vector<Index> chosen,
          Communicator* communicator = nullptr);
  // The same with images, changed at random and reduced by their mean as the options say.
  Trainer(const TrainerOptions& options, const data::ImageSet& images, std::vector<Index> chosen,
          Communicator* communicator = nullptr);
  ~Trainer();

  // Continues to the end of the current epoch, calling go_on after each step; false when that asked to stop. With
  // several processes one that asks so stops all, one step later. Throws Error (training) when the loss is no longer
  // finite, with the step, the rate and the constants.
  bool run_epoch(const std::function<bool(const StepReport&)>& go_on);
  EpochReport epoch_report() const;  // of the epoch that run_epoch finished last
  std::int64_t epochs_done() const;
  std::int64_t steps_done() const;
  Index steps_per_epoch() const;
  Index parameter_count() const;
  Index penultimate_width() const;  // columns of A: what the last layer receives
  double weight_norm() const;       // max ||w|| now, not finite once a weight is not

  // The optimizer auto has an average of the weights beside the last ones. What is used is evaluated and saved, and is
  // remembered by a checkpoint.
  bool has_average() const;
  void use_average(bool average);
  bool uses_average() const;
  std::string certificate() const;                               // of the head (rate/auto.hpp); empty without auto,
  std::string shortfall(double reached, double constant) const;  // and so is this

  // Of the weights to evaluate (evaluation_weights.hpp), which save_weights() writes too. Where these are not the
  // trained ones, the running statistics of batch norm are those of a few training batches with them. scores, where
  // given, becomes the outputs of the network, a row per example.
  Evaluation evaluate(const data::Examples& examples, std::span<const Index> chosen,
                      DenseMatrix<double>* scores = nullptr);
  // Of images: only where the trainer was made with images.
  Evaluation evaluate(const data::ImageSet& images, std::span<const Index> chosen,
                      DenseMatrix<double>* scores = nullptr);

  // What is remembered beside weights and optimizer state: text under names of the caller's choosing.
  using Notes = std::map<std::string, std::string>;
  void save(const std::string& path, const Notes& notes) const;  // atomic
  // The file is read by rank 0. Error (data) when it is damaged or of another training; then nothing changes.
  Notes load(const std::string& path);

  // Weights alone: a safetensors file, or Keras's HDF5 when the name ends in .h5 or .hdf5. Returns what a reader should
  // know of the matching, one sentence each.
  std::vector<std::string> load_weights(const std::string& path);
  void save_weights(const std::string& path) const;

  struct State;  // for the sources of nn/

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lipschitzlr::nn

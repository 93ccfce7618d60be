#pragma once
// What a Trainer is made of; shared by training steps (trainer.cpp), passes over examples that train nothing
// (evaluation.cpp) and files (checkpoint.cpp).

#include "lipschitzlr/data/batch/batches.hpp"
#include "lipschitzlr/nn/auto.hpp"
#include "lipschitzlr/nn/evaluation_weights.hpp"
#include "lipschitzlr/nn/models.hpp"
#include "lipschitzlr/nn/optimizer.hpp"
#include "lipschitzlr/nn/step_check.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "nn/data_parallel.hpp"
#include "nn/training_batch.hpp"

namespace lipschitzlr::nn {

// Where the training stands. All of it goes into a checkpoint.
struct Position {
  std::int64_t epoch = 1;       // the current one, from 1
  Index batch = 0;              // next in the epoch
  std::int64_t step = 0;        // done, over all epochs
  double loss_sum = 0;          // over the examples of this epoch so far
  Index correct = 0, seen = 0;  // likewise
  double start_rate = 0;        // computed at the epoch's start
  double last_rate = 0;         // of the last step, decay included
};

// Of one batch, whichever processes computed it.
struct BatchResult {
  double loss = 0;  // mean
  Index correct = 0;
};

// Images of a trainer that was given no other examples.
struct OwnImages {
  OwnImages(const TrainerOptions& options, const data::ImageSet& set);

  ThreadPool pool;
  std::vector<float> mean;  // image of the training set; empty: none is subtracted
  data::Batches batches;
};

struct Trainer::State {
  State(const TrainerOptions& asked, const data::Examples& all, std::vector<Index> indices, Communicator* processes);

  Index steps_per_epoch() const;
  double accuracy_of(double loss, double correct) const;  // of training examples; correct: the share of them
  bool fits(const Position& at) const;                    // whether this training can stand there
  bool measures_before_epoch() const;
  void measure_pass();
  void refresh_statistics();  // of batch norm, for the weights as they are
  void begin_epoch();
  StepReport step();
  void finish_epoch();

  TrainingBatch training_batch(std::span<const Index> chosen_part);
  at::Tensor forward(const TrainingBatch& batch);
  at::Tensor measured_forward(const TrainingBatch& batch);  // of which the tap learns all that the constant asks for
  // Forward and backward pass: the gradients are then those of the batch.
  BatchResult compute(std::span<const Index> batch);
  BatchResult compute_in_parallel(std::span<const Index> batch);
  void take_step(double loss);
  // The examples as they are, in evaluation mode. Processes share out whole batches, so that what is computed of each
  // has the bits of one process.
  void visit_plain(const data::Examples& set, std::span<const Index> indices, Index batch_size,
                   const std::function<void(std::size_t number, const TrainingBatch&)>& visit);

  TrainerOptions options;
  std::unique_ptr<OwnImages> own_images;  // null: the examples are somebody else's
  const data::Examples& examples;
  std::vector<Index> chosen;
  double mean_loss = 0;  // of numbers: the squared error of their mean
  Communicator* communicator;
  std::shared_ptr<Network> network;
  std::unique_ptr<Optimizer> optimizer;
  Auto* automatic = nullptr;               // the optimizer, when it is auto
  std::unique_ptr<DataParallel> parallel;  // with several processes
  std::optional<StepCheck> check;          // where it is asked for
  PenultimateNorms own_norms;              // of the examples of this process, with several
  bool stop_requested = false;             // in this process; all then stop with the next step
  bool stopping = false;                   // all processes

  Position position;
  EpochReport report;        // of the current epoch, then of the last one
  std::vector<Index> order;  // of the current epoch; empty: not begun in this process
};

// Half the mean squared distance of the chosen examples' targets from their mean.
double squared_error_of_mean(const data::Examples& examples, std::span<const Index> chosen);
// R^2; 0 of numbers that are all the same.
double r_squared(double loss, double loss_of_mean);

// While it lives, the network is the one to evaluate and to save.
class JudgedNetwork {
 public:
  explicit JudgedNetwork(Trainer::State& state);
  ~JudgedNetwork();
  JudgedNetwork(const JudgedNetwork&) = delete;
  JudgedNetwork& operator=(const JudgedNetwork&) = delete;

 private:
  EvaluationWeights weights_;
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers_;  // of training, and their values kept aside
};

}  // namespace lipschitzlr::nn

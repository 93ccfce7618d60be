#pragma once
// What a Trainer is made of; shared by training steps (trainer.cpp), passes over images that train nothing
// (evaluation.cpp) and files (checkpoint.cpp).

#include "lipschitzlr/nn/auto.hpp"
#include "lipschitzlr/nn/evaluation_weights.hpp"
#include "lipschitzlr/nn/models.hpp"
#include "lipschitzlr/nn/optimizer.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "nn/data_parallel.hpp"
#include "nn/training_batch.hpp"

namespace lipschitzlr::nn {

// Where the training stands. All of it goes into a checkpoint.
struct Position {
  std::int64_t epoch = 1;       // the current one, from 1
  Index batch = 0;              // next in the epoch
  std::int64_t step = 0;        // done, over all epochs
  double loss_sum = 0;          // over the images of this epoch so far
  Index correct = 0, seen = 0;  // likewise
  double start_rate = 0;        // computed at the epoch's start
  double last_rate = 0;         // of the last step, decay included
};

// Of one batch, whichever processes computed it.
struct BatchResult {
  double loss = 0;  // mean
  Index correct = 0;
};

struct Trainer::State {
  State(const TrainerOptions& asked, const data::ImageSet& set, std::vector<Index> indices, Communicator* processes);

  Index steps_per_epoch() const;
  bool fits(const Position& at) const;  // whether this training can stand there
  bool measures_before_epoch() const;
  void measure_pass();
  void refresh_statistics();  // of batch norm, for the weights as they are
  void begin_epoch();
  StepReport step();
  void finish_epoch();

  TrainingBatch training_batch(std::span<const Index> chosen_part);
  at::Tensor forward(const TrainingBatch& batch);
  // Forward and backward pass: the gradients are then those of the batch.
  BatchResult compute(std::span<const Index> batch);
  BatchResult compute_in_parallel(std::span<const Index> batch);
  // The images as they are, in evaluation mode. Processes share out whole batches, so that what is computed of each has
  // the bits of one process.
  void visit_plain(const data::ImageSet& set, std::span<const Index> indices, Index batch_size,
                   const std::function<void(std::size_t number, const TrainingBatch&)>& visit);

  TrainerOptions options;
  const data::ImageSet& images;
  std::vector<Index> chosen;
  Communicator* communicator;
  ThreadPool pool;
  std::vector<float> mean;  // image of the training set; empty: none is subtracted
  data::Batches batches;
  std::shared_ptr<Network> network;
  std::unique_ptr<Optimizer> optimizer;
  Auto* automatic = nullptr;               // the optimizer, when it is auto
  std::unique_ptr<DataParallel> parallel;  // with several processes
  PenultimateNorms own_norms;              // of the images of this process, with several
  bool stop_requested = false;             // in this process; all then stop with the next step
  bool stopping = false;                   // all processes

  Position position;
  EpochReport report;        // of the current epoch, then of the last one
  std::vector<Index> order;  // of the current epoch; empty: not begun in this process
};

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

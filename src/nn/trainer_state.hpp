#pragma once
// What a Trainer is made of; shared by the training itself (trainer.cpp) and its checkpoints (checkpoint.cpp).

#include "lipschitzlr/nn/models.hpp"
#include "nn/data_parallel.hpp"
#include "nn/optimizer_choice.hpp"

namespace lipschitzlr::nn {

// Where the training stands. All of it goes into a checkpoint.
struct Position {
  std::int64_t epoch = 1;       // at hand, from 1
  Index batch = 0;              // next in the epoch
  std::int64_t step = 0;        // done, over all epochs
  double loss_sum = 0;          // over the images of this epoch so far
  Index correct = 0, seen = 0;  // likewise
  double start_rate = 0;        // computed at the epoch's start
  double last_rate = 0;         // of the last step, decay included
};

// Of one batch, whoever computed it.
struct BatchResult {
  double loss = 0;  // mean
  Index correct = 0;
};

struct TrainingBatch;

struct Trainer::State {
  State(const TrainerOptions& asked, const data::ImageSet& set, std::vector<Index> indices, Communicator* team_or_null);

  bool measures_before_epoch() const;
  void measure_pass();
  void begin_epoch();
  StepReport step();
  void finish_epoch();

  // Where whole batches are shared out.
  std::pair<Index, Index> own_batches(Index count) const {
    return communicator == nullptr ? std::pair<Index, Index>(0, count)
                                   : share_of(count, communicator->rank(), communicator->size());
  }
  TrainingBatch training_batch(std::span<const Index> chosen_part);
  at::Tensor forward(const TrainingBatch& batch);
  // Forward and backward pass: the gradients are then those of the batch.
  BatchResult compute(std::span<const Index> batch);
  BatchResult compute_in_team(std::span<const Index> batch);

  TrainerOptions options;
  const data::ImageSet& images;
  std::vector<Index> chosen;
  Communicator* communicator;
  ThreadPool pool;
  std::vector<float> mean;  // image of the training set; empty: none is subtracted
  data::Batches batches;
  std::shared_ptr<Network> network;
  ChosenOptimizer optimizer;
  std::unique_ptr<DataParallel> parallel;  // in a team
  PenultimateNorms own_norms;              // of the images of this process, in a team
  bool wishes_to_stop = false;             // this process; the team then stops with the next step
  bool stopping = false;                   // the team

  Position position;
  EpochReport report;        // of the epoch at hand, then of the last one
  std::vector<Index> order;  // of the epoch at hand; empty: not begun in this process
};

}  // namespace lipschitzlr::nn

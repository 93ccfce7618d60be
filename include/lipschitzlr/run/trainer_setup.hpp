#pragma once
// What the options of `train` mean for a Trainer, given the data.

#include "lipschitzlr/data/image/images.hpp"
#include "lipschitzlr/linear/objective.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::run {

// What of the data decides on defaults.
struct DataShape {
  DataShape(const data::ImageSet& images) : channels(images.channels), height(images.height) {}
  DataShape(linear::Family target, Index count) : family(target), rows(count) {}

  Index channels = 1, height = 1;             // of images
  std::optional<linear::Family> family = {};  // of a table: how its target is predicted; none: images
  Index rows = 0;                             // of a table, to train on
};

// Throws Error (usage) naming an option that does nothing with the policy or with the kind of data: of options as a
// user gave them, not of completed ones, which have them all.
void check_used(const TrainOptions& options);

// Fills in what was left open. Throws Error (usage) naming the option that makes no sense.
TrainOptions completed(TrainOptions options, const DataShape& data);

// Of completed options, whose first rate must be known: a number or none.
nn::TrainerOptions trainer_options(const TrainOptions& completed, const DataShape& data);

}  // namespace lipschitzlr::run

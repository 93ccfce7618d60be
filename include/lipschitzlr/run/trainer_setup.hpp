#pragma once
// What the options of `train` mean for a Trainer, given the images.

#include "lipschitzlr/data/image/images.hpp"
#include "lipschitzlr/nn/trainer.hpp"
#include "lipschitzlr/run/train_options.hpp"

namespace lipschitzlr::run {

// Throws Error (usage) naming an option that does nothing with the policy: of options as a user gave them, not of
// completed ones, which have them all.
void check_used(const TrainOptions& options);

// Fills in what was left open. Throws Error (usage) naming the option that makes no sense.
TrainOptions completed(TrainOptions options, const data::ImageSet& images);

// Of completed options, whose first rate must be known: a number or none.
nn::TrainerOptions trainer_options(const TrainOptions& completed, const data::ImageSet& images);

}  // namespace lipschitzlr::run

#pragma once
// The optimizers a training can be asked for by name, each with the rate controller that goes with it.

#include <torch/optim/optimizer.h>

#include <memory>

#include "lipschitzlr/nn/network.hpp"
#include "lipschitzlr/nn/trainer.hpp"

namespace lipschitzlr::nn {

struct ChosenOptimizer {
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::unique_ptr<RateController> own_controller;  // of an optimizer of libtorch
  RateController* controller = nullptr;            // that, or the one inside an optimizer of ours

  void step();  // one step with the controller's rate
};

// Throws Error (usage) that lists the names when there is none of that name.
ChosenOptimizer choose_optimizer(const TrainerOptions& options, Network& network);

}  // namespace lipschitzlr::nn

#pragma once
// An optimizer in the registry.

#include <memory>

#include "lipschitzlr/nn/baseline_optimizers.hpp"
#include "lipschitzlr/nn/network.hpp"
#include "lipschitzlr/nn/trainer.hpp"

namespace lipschitzlr::nn::optimizer {

struct Entry {
  OptimizerInfo info;
  const char* rule;  // that computes its rates; null: it has step sizes of its own
  std::unique_ptr<Optimizer> (*make)(OptimizerContext);
};

template <class Kind>
Entry entry(OptimizerInfo info, const char* rule = nullptr) {
  info.computed_rate = rule != nullptr;
  return {std::move(info), rule, [](OptimizerContext context) -> std::unique_ptr<Optimizer> {
            return std::make_unique<Kind>(std::move(context));
          }};
}

// The optimizer that a training asks for. Throws Error (usage) that lists the names when there is none of that name.
std::unique_ptr<Optimizer> make_optimizer(const TrainerOptions& options, const Network& network);

}  // namespace lipschitzlr::nn::optimizer

#pragma once
// The parameters of a network in groups, and an optimizer of them that a rate controller drives.

#include "nn/optimizer/entry.hpp"

namespace lipschitzlr::nn::optimizer {

struct DecayParts {
  std::vector<at::Tensor> decayed, free;
};

// Which parameters the training's weight decay acts on.
DecayParts decay_parts(const Parts& parts);

// Two groups: with weight decay and without. Options is the optimizer's own, with its method weight_decay.
template <class Options>
Groups make_groups(const Parts& parts, Options base) {
  DecayParts tensors = decay_parts(parts);
  Groups groups;
  const auto add = [&](std::vector<at::Tensor> chosen, double decay) {
    if (chosen.empty()) return;
    base.weight_decay(decay);
    groups.emplace_back(std::move(chosen), std::make_unique<Options>(base));
  };
  add(std::move(tensors.decayed), parts.options.weight_decay);
  add(std::move(tensors.free), 0);
  return groups;
}

// The optimizer with a controller of its own, which sets its rate before each step.
ChosenOptimizer driven(const Parts& parts, std::unique_ptr<torch::optim::Optimizer> optimizer);

}  // namespace lipschitzlr::nn::optimizer

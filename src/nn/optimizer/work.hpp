#pragma once
// What every optimizer of ours does alike: which parameters take part in a step, their gradients with weight decay, the
// state of each, and running averages.

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

#include <memory>
#include <vector>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::nn::optimizer {

// The loss, when the caller of step() gave a function for it.
inline at::Tensor loss_of(const torch::optim::Optimizer::LossClosure& closure) {
  if (!closure) return {};
  const at::AutoGradMode with_gradients(true);
  return closure();
}

template <class State, class Options>
struct Work {
  at::Tensor parameter, gradient;
  State& state;
  Options& options;
};

// The parameters that have a gradient, with the counts of their steps moved on. A frozen one has none.
template <class State, class Options>
std::vector<Work<State, Options>> begin_step(torch::optim::Optimizer& optimizer) {
  std::vector<Work<State, Options>> all;
  for (auto& group : optimizer.param_groups()) {
    auto& options = static_cast<Options&>(group.options());
    for (const at::Tensor& parameter : group.params()) {
      const at::Tensor& gradient = parameter.grad();
      if (!gradient.defined() || gradient.numel() == 0) continue;
      if (gradient.is_sparse()) throw Error(Fault::usage, "sparse gradients are not supported");
      auto& state = optimizer.state()[c10::guts::to_string(parameter.unsafeGetTensorImpl())];
      if (!state) state = std::make_unique<State>();
      auto& own = static_cast<State&>(*state);
      own.step(own.step() + 1);
      const double decay = options.weight_decay();
      all.push_back({parameter, decay == 0 ? gradient : gradient.add(parameter, decay), own, options});
    }
  }
  return all;
}

// average <- beta average + (1 - beta) value, from zero.
inline void average_into(at::Tensor& average, const at::Tensor& value, double beta) {
  if (!average.defined()) average = at::zeros_like(value);
  average.mul_(beta).add_(value, 1 - beta);
}

inline void average_squares_into(at::Tensor& average, const at::Tensor& value, double beta) {
  if (!average.defined()) average = at::zeros_like(value);
  average.mul_(beta).addcmul_(value, value, 1 - beta);
}

// sqrt(average / divisor) + epsilon
inline at::Tensor root(const at::Tensor& average, double divisor, double epsilon) {
  return average.div(divisor).sqrt_().add_(epsilon);
}

inline double read_number(torch::serialize::InputArchive& archive, const std::string& name) {
  c10::IValue value;
  archive.read(name, value);
  return value.toDouble();
}

}  // namespace lipschitzlr::nn::optimizer

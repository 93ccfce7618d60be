// AdaShift: Zhou et al., AdaShift: Decorrelation and Convergence of Adaptive Learning Rate Methods, ICLR 2019. With
// n = delay, t counting steps from 1, and phi the largest element of the tensor (the paper's block) or nothing:
//   m = sum_{i<n} beta1^i g_{t-i} / sum_{i<n} beta1^i;   v <- beta2 v + (1-beta2) phi(g_{t-n}^2)
//   w <- w - lr m / (sqrt(v / (1 - beta2^(t-n))) + epsilon)
// The first n steps only gather gradients: nothing moves. As in the authors' code neither does what has seen no squares
// but zeros, and its t-n counts from the first other one.

#include <string>

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AdaShift : public Optimizer {
  using Optimizer::Optimizer;

  static std::string name_of(std::int64_t step, std::int64_t delay) {
    return "gradient " + std::to_string(step % delay);
  }

  void update(const OptimizerStep& step) override {
    const OptimizerOptions& options = step.options;
    const double beta1 = options.at("beta1"), beta2 = options.at("beta2");
    const auto delay = static_cast<std::int64_t>(options.at("delay"));
    const std::int64_t now = step.state.step;
    at::Tensor& oldest = step.state.tensors[name_of(now, delay)];
    const at::Tensor shifted = oldest;
    oldest = step.gradient.clone();
    if (!shifted.defined()) return;

    at::Tensor squares = shifted.square();
    if (options.at("block_max") == 1) squares = squares.max();
    at::Tensor& average = step.state.zeros("squares", squares);
    at::Tensor& correction = step.state.zeros("correction", squares);
    average.mul_(beta2).add_(squares, 1 - beta2);
    average_into(correction, average.gt(0).to(squares.scalar_type()), beta2);  // 1 - beta2^k after k steps

    at::Tensor mean = step.gradient.clone();
    double weight = 1, weights = 1;
    for (std::int64_t i = 1; i < delay; ++i) {
      weight *= beta1;
      weights += weight;
      mean.add_(step.state.zeros(name_of(now - i, delay), mean), weight);
    }
    const at::Tensor rates = root(average.div(correction), 1, options.at("epsilon")).reciprocal_();
    mean.mul_(rates.masked_fill_(average.eq(0), 0));
    step.parameter.sub_(mean, options.lr() / weights);
  }
};

}  // namespace

Entry adashift() {
  return entry<AdaShift>(
      {.name = "adashift",
       .summary = "Adam with squares of gradients of some steps before",
       .rate = 0.01,
       .paper = "Zhou et al.: AdaShift: Decorrelation and Convergence of Adaptive Learning Rate Methods, 2019",
       .settings = {
           {"delay", 10, SettingRange::count, "n: how many gradients are averaged, and how old the squares are"},
           {"beta1", 0.9, SettingRange::share, "weight of a gradient beside the next one in the average"},
           {"beta2", 0.999, SettingRange::share, "weight of the past in the average of squares"},
           {"epsilon", 1e-10, SettingRange::not_negative, "added to the square root"},
           {"block_max", 1, SettingRange::yes_no, "one square for a tensor, its largest; 0: each its own"}}});
}

}  // namespace lipschitzlr::nn::optimizer

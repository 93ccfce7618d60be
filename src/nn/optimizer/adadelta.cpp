// AdaDelta: Zeiler, ADADELTA: An Adaptive Learning Rate Method, arXiv 1212.5701, algorithm 1. RMS[x] = sqrt(E[x^2] +
// epsilon)
//   E[g^2] <- rho E[g^2] + (1-rho) g^2;   d = RMS[d] / RMS[g] g;   E[d^2] <- rho E[d^2] + (1-rho) d^2;   w <- w - lr d
// RMS[d] is that of the steps before. The paper has no rate: lr = 1.

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AdaDelta : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    const double rho = step.options.at("rho"), epsilon = step.options.at("epsilon");
    at::Tensor& gradients = step.state.zeros("squares of gradients", step.gradient);
    at::Tensor& deltas = step.state.zeros("squares of deltas", step.gradient);
    average_squares_into(gradients, step.gradient, rho);
    const at::Tensor delta = deltas.add(epsilon).sqrt_().div_(gradients.add(epsilon).sqrt_()).mul_(step.gradient);
    average_squares_into(deltas, delta, rho);
    step.parameter.sub_(delta, step.options.lr());
  }
};

}  // namespace

Entry adadelta() {
  return entry<AdaDelta>(
      {.name = "adadelta",
       .summary = "steps as large as the last ones were",
       .rate = 1,
       .paper = "Zeiler: ADADELTA: An Adaptive Learning Rate Method, 2012",
       .settings = {
           {"rho", 0.95, SettingRange::share, "weight of the past in both averages of squares"},
           {"epsilon", 1e-6, SettingRange::positive, "added inside both square roots; the size of the start"}}});
}

}  // namespace lipschitzlr::nn::optimizer

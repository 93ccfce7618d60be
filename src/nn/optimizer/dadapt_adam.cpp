// Adam with D-Adaptation: Defazio, Mishchenko, Learning-Rate-Free Learning by D-Adaptation, arXiv 2301.07733, algorithm
// 5. The rate d is a lower bound of the distance to a solution; r and s are over all parameters:
//   m <- beta1 m + (1-beta1) d lr g;   v <- beta2 v + (1-beta2) g^2;   w <- w - m / (sqrt(v) + epsilon)
//   r <- sqrt(beta2) r + (1-sqrt(beta2)) d lr <g, s / (sqrt(v) + epsilon)>, with s before this step
//   s <- sqrt(beta2) s + (1-sqrt(beta2)) d lr g;   d <- max(d, r / ((1-sqrt(beta2)) ||s||_1))

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/sums.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class DAdaptAdam : public Optimizer {
  using Optimizer::Optimizer;

  void begin_updates(const std::vector<OptimizerStep>& all) override {
    if (all.empty()) return;
    const OptimizerOptions& first = all.front().options;
    double& distance = number("distance", first.at("d0"));
    double& numerator = number("numerator", 0);
    const double root2 = std::sqrt(first.at("beta2"));
    double gain = 0, denominator = 0;
    for (const OptimizerStep& one : all) {
      const double rate = distance * one.options.lr();
      average_into(one.state.zeros("average", one.gradient), one.gradient * rate, one.options.at("beta1"));
      at::Tensor& sum = one.state.zeros("sum", one.gradient);
      gain += rate * inner_product(one.gradient, sum / divisor(one));
      denominator += sum_of_magnitudes(sum.mul_(root2).add_(one.gradient, (1 - root2) * rate));
    }
    numerator = root2 * numerator + (1 - root2) * gain;
    if (denominator > 0) distance = std::max(distance, numerator / ((1 - root2) * denominator));
  }

  void update(const OptimizerStep& step) override {
    const OptimizerOptions& options = step.options;
    step.parameter.addcdiv_(step.state.tensors.at("average"),
                            root(step.state.tensors.at("squares"), 1, options.at("epsilon")), -1);
  }

  // With the squares of this step.
  static at::Tensor divisor(const OptimizerStep& step) {
    at::Tensor& squares = step.state.zeros("squares", step.gradient);
    average_squares_into(squares, step.gradient, step.options.at("beta2"));
    return root(squares, 1, step.options.at("epsilon"));
  }
};

}  // namespace

Entry dadapt_adam() {
  return entry<DAdaptAdam>(
      {.name = "dadapt-adam",
       .summary = "Adam whose rate is a lower bound of the distance to a solution",
       .rate = 1,
       .paper = "Defazio, Mishchenko: Learning-Rate-Free Learning by D-Adaptation, 2023",
       .settings = with(adam_settings(0.9, 0.999), {"d0", 1e-6, SettingRange::positive, "the distance at the start"})});
}

}  // namespace lipschitzlr::nn::optimizer

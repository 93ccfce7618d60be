// Prodigy: Mishchenko, Defazio, Prodigy: An Expeditiously Adaptive Parameter-Free Learner, arXiv 2306.06101,
// algorithm 4. Adam whose rate d estimates the distance from the start w0 to a solution; r and s are over all
// parameters:
//   m <- beta1 m + (1-beta1) d g;   v <- beta2 v + (1-beta2) d^2 g^2
//   r <- sqrt(beta2) r + (1-sqrt(beta2)) lr d^2 <g, w0 - w>;   s <- sqrt(beta2) s + (1-sqrt(beta2)) lr d^2 g
//   w <- w - lr d m / (sqrt(v) + d epsilon);   d <- max(d, r / ||s||_1)
// As in the authors' code averages are not corrected for their start, and r and s are divided by d0^2, which leaves
// their ratio as it is and keeps them away from the smallest numbers.

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/sums.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class Prodigy : public Optimizer {
  using Optimizer::Optimizer;

  void begin_updates(const std::vector<OptimizerStep>& all) override {
    if (all.empty()) return;
    const OptimizerOptions& first = all.front().options;
    const double d0 = first.at("d0");
    double& distance = number("distance", d0);
    double& numerator = number("numerator", 0);
    distance_ = distance;
    const double root2 = std::sqrt(first.at("beta2"));
    double gain = 0, denominator = 0;
    for (const OptimizerStep& one : all) {
      const double weight = one.options.lr() * (distance / d0) * (distance / d0);
      gain += weight * inner_product(one.gradient, start_of(one) - one.parameter);
      denominator +=
          sum_of_magnitudes(one.state.zeros("sum", one.gradient).mul_(root2).add_(one.gradient, (1 - root2) * weight));
    }
    numerator = root2 * numerator + (1 - root2) * gain;
    if (denominator > 0) distance = std::max(distance, numerator / denominator);
  }

  void update(const OptimizerStep& step) override {
    const OptimizerOptions& options = step.options;
    const double beta1 = options.at("beta1"), beta2 = options.at("beta2");
    const at::Tensor gradient = step.gradient * distance_;
    const at::Tensor& average = average_into(step.state.zeros("average", gradient), gradient, beta1);
    const at::Tensor& squares = average_squares_into(step.state.zeros("squares", gradient), gradient, beta2);
    step.parameter.addcdiv_(average, root(squares, 1, distance_ * options.at("epsilon")), -options.lr() * distance_);
  }

  double distance_ = 0;  // before this step
};

}  // namespace

Entry prodigy() {
  return entry<Prodigy>(
      {.name = "prodigy",
       .summary = "Adam whose rate estimates the distance to a solution",
       .rate = 1,
       .paper = "Mishchenko, Defazio: Prodigy: An Expeditiously Adaptive Parameter-Free Learner, 2023",
       .settings = with(adam_settings(0.9, 0.999), {"d0", 1e-6, SettingRange::positive, "the distance at the start"})});
}

}  // namespace lipschitzlr::nn::optimizer

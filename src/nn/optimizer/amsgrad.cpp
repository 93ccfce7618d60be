// AMSGrad: Reddi, Kale, Kumar, On the Convergence of Adam and Beyond, ICLR 2018, algorithm 2.
//   m <- beta1 m + (1-beta1) g;   v <- beta2 v + (1-beta2) g^2;   u <- max(u, v);   w <- w - lr m / (sqrt(u) + epsilon)
// libtorch's Adam has an AMSGrad too, which divides u by 1 - beta2^t: u then shrinks at first, and the step sizes grow,
// which is what the algorithm is there to prevent. bias_correction = 1 does the same.

#include <ATen/ops/maximum.h>

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AmsGrad : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    const OptimizerOptions& options = step.options;
    const double beta1 = options.at("beta1"), beta2 = options.at("beta2");
    at::Tensor& average = step.state.zeros("average", step.gradient);
    at::Tensor& squares = step.state.zeros("squares", step.gradient);
    at::Tensor& largest = step.state.zeros("largest", step.gradient);
    average_into(average, step.gradient, beta1);
    average_squares_into(squares, step.gradient, beta2);
    at::maximum_out(largest, largest, squares);
    const bool corrected = options.at("bias_correction") == 1;
    const double correction1 = corrected ? bias_divisor(beta1, step) : 1;
    const double correction2 = corrected ? bias_divisor(beta2, step) : 1;
    step.parameter.addcdiv_(average, root(largest, correction2, options.at("epsilon")), -options.lr() / correction1);
  }
};

}  // namespace

Entry amsgrad() {
  return entry<AmsGrad>(
      {.name = "amsgrad",
       .summary = "Adam whose step sizes never grow",
       .rate = 0.001,
       .paper = "Reddi, Kale, Kumar: On the Convergence of Adam and Beyond, 2018",
       .settings = {
           {"beta1", 0.9, SettingRange::share, "weight of the past in the average of gradients"},
           {"beta2", 0.999, SettingRange::share, "weight of the past in the average of squares"},
           {"epsilon", 1e-8, SettingRange::not_negative, "added to the square root"},
           {"bias_correction", 0, SettingRange::yes_no, "divide the averages by 1 - beta^t, as libtorch does"}}});
}

}  // namespace lipschitzlr::nn::optimizer

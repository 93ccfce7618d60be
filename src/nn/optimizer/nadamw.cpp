// NadamW: Adam with Nesterov's momentum (Dozat 2016, as in table 1 of Choi et al., arXiv 1910.05446) and weight decay
// that is no part of the gradient.
//   m <- beta1 m + (1-beta1) g;   v <- beta2 v + (1-beta2) g^2;   n = (beta1 m + (1-beta1) g) / (1 - beta1^t)
//   w <- w - lr (n / (sqrt(v / (1 - beta2^t)) + epsilon) + weight_decay w)
// Rate and settings are the ones that AlgoPerf's self-tuning baseline has for every workload (Dahl et al., Benchmarking
// Neural Network Training Algorithms, arXiv 2306.07179), with a warm-up of 0.02 of the steps and cosine decay.

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class NadamW : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    const OptimizerOptions& options = step.options;
    const double beta1 = options.at("beta1"), beta2 = options.at("beta2"), correction = bias_divisor(beta1, step);
    const at::Tensor& average = average_into(step.state.zeros("average", step.gradient), step.gradient, beta1);
    const at::Tensor& squares = average_squares_into(step.state.zeros("squares", step.gradient), step.gradient, beta2);
    const at::Tensor ahead = (average * (beta1 / correction)).add_(step.gradient, (1 - beta1) / correction);
    step.parameter.mul_(1 - options.lr() * options.at("weight_decay"));
    step.parameter.addcdiv_(ahead, root(squares, bias_divisor(beta2, step), options.at("epsilon")), -options.lr());
  }
};

}  // namespace

Entry nadamw() {
  return entry<NadamW>({.name = "nadamw",
                        .summary = "Adam with Nesterov's momentum, as calibrated for AlgoPerf",
                        .rate = 0.0017486387539278373,
                        .paper = "Dahl et al.: Benchmarking Neural Network Training Algorithms, 2023",
                        .settings = with(adam_settings(1 - 0.06733926164, 0.9955159689799007),
                                         {"weight_decay", 0.08121616522670176, SettingRange::not_negative,
                                          "times rate and weight, subtracted in each step"})});
}

}  // namespace lipschitzlr::nn::optimizer

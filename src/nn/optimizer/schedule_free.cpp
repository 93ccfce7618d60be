// Schedule-Free AdamW: Defazio et al., The Road Less Scheduled, arXiv 2405.15682, algorithm 1. Gradients are taken at
// y, which are the trained weights; x, an average of z, are the weights to evaluate:
//   v <- beta2 v + (1-beta2) g^2;   lr_t = lr sqrt(1 - beta2^t);   z <- z - lr_t (g / (sqrt(v) + epsilon) +
//   weight_decay y) c = p / (sum of all p so far), p = (largest lr_t so far)^2;    x <- x + c (z - x);   y <- (1-beta1)
//   z + beta1 x

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class ScheduleFree : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    const OptimizerOptions& options = step.options;
    const double beta2 = options.at("beta2"), rate = options.lr() * std::sqrt(bias_divisor(beta2, step));
    const at::Tensor& squares = average_squares_into(step.state.zeros("squares", step.gradient), step.gradient, beta2);
    at::Tensor &z = step.state.tensors["z"], &x = step.state.tensors["x"];
    if (!z.defined()) z = step.parameter.detach().clone(), x = z.clone();
    z.sub_(step.parameter, rate * options.at("weight_decay"));
    z.addcdiv_(step.gradient, root(squares, 1, options.at("epsilon")), -rate);
    x.lerp_(z, weight(step.state, rate));
    step.parameter.copy_(z.lerp(x, options.at("beta1")));
  }

  // c: the share of this z in the average.
  static double weight(ParameterState& state, double rate) {
    const at::Tensor largest = number_of(state, "largest rate", 0), sum = number_of(state, "sum of weights", 0);
    largest.fill_(std::max(largest.item<double>(), rate));
    const double own = largest.item<double>() * largest.item<double>();
    sum.add_(own);
    return own == 0 ? 0 : own / sum.item<double>();
  }

  at::Tensor evaluation_weights(const at::Tensor& parameter, const ParameterState& state) const override {
    const auto x = state.tensors.find("x");
    return x == state.tensors.end() ? parameter : x->second;
  }
};

}  // namespace

Entry schedule_free() {
  return entry<ScheduleFree>(
      {.name = "schedule-free",
       .summary = "AdamW with an average in place of a schedule",
       .rate = 0.0025,
       .paper = "Defazio et al.: The Road Less Scheduled, 2024",
       .settings = {
           {"beta1", 0.9, SettingRange::share, "weight of the average where the gradient is taken"},
           {"beta2", 0.999, SettingRange::share, "weight of the past in the average of squares"},
           {"epsilon", 1e-8, SettingRange::not_negative, "added to the square root"},
           {"weight_decay", 0, SettingRange::not_negative, "times rate and weight, subtracted in each step"}}});
}

}  // namespace lipschitzlr::nn::optimizer

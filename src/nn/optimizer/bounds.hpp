#pragma once
// The step of AdaBound and AMSBound: Luo et al., Adaptive Gradient Methods with Dynamic Bound of Learning Rate, ICLR
// 2019, algorithm 2. With u = v (AdaBound) or the largest v so far (AMSBound), f = final_rate, t counting steps from 1:
//   low = f (1 - 1/(gamma t + 1));   high = f (1 + 1/(gamma t))
//   w <- w - clip(lr sqrt(1-beta2^t) / (1-beta1^t) / (sqrt(u) + epsilon), low, high) m
// As in its authors' code the averages are corrected like Adam's, f follows a schedule of lr, and there is no further
// factor 1/sqrt(t), which the paper needs for its proof only.

#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {

// m, v <- the averages with this step's gradient; returns v.
inline at::Tensor& move_averages(const OptimizerStep& step) {
  average_into(step.state.zeros("average", step.gradient), step.gradient, step.options.at("beta1"));
  return average_squares_into(step.state.zeros("squares", step.gradient), step.gradient, step.options.at("beta2"));
}

// base_rate: the rule's, before decay and schedule.
inline void bounded_step(const OptimizerStep& step, const at::Tensor& squares, double base_rate) {
  const OptimizerOptions& options = step.options;
  const auto steps = static_cast<double>(step.state.step);
  const double final_rate = options.at("final_rate") * options.lr() / base_rate;
  const double gamma = options.at("gamma");
  const double low = final_rate * (1 - 1 / (gamma * steps + 1)), high = final_rate * (1 + 1 / (gamma * steps));
  const double rate =
      options.lr() * std::sqrt(bias_divisor(options.at("beta2"), step)) / bias_divisor(options.at("beta1"), step);
  const at::Tensor rates = root(squares, 1, options.at("epsilon")).reciprocal_().mul_(rate).clamp_(low, high);
  step.parameter.sub_(rates.mul(step.state.tensors.at("average")));
}

inline std::vector<OptimizerSetting> bound_settings() {
  return {{"beta1", 0.9, SettingRange::share, "weight of the past in the average of gradients"},
          {"beta2", 0.999, SettingRange::share, "weight of the past in the average of squares"},
          {"epsilon", 1e-8, SettingRange::not_negative, "added to the square root"},
          {"final_rate", 0.1, SettingRange::positive, "the rate of SGD that both bounds come to"},
          {"gamma", 1e-3, SettingRange::positive, "how fast they come to it"}};
}

inline constexpr const char* kBoundPaper =
    "Luo et al.: Adaptive Gradient Methods with Dynamic Bound of Learning Rate, 2019";

}  // namespace lipschitzlr::nn::optimizer

#pragma once
// What the update() of several optimizers has in common: running averages and the divisors made from them.

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>

#include <cmath>
#include <functional>

#include "lipschitzlr/nn/optimizer.hpp"

namespace lipschitzlr::nn::optimizer {

// The loss, when the caller of step() gave a function for it.
at::Tensor loss_of(const std::function<at::Tensor()>& closure);

// average <- beta average + (1 - beta) value
inline at::Tensor& average_into(at::Tensor& average, const at::Tensor& value, double beta) {
  return average.mul_(beta).add_(value, 1 - beta);
}

inline at::Tensor& average_squares_into(at::Tensor& average, const at::Tensor& value, double beta) {
  return average.mul_(beta).addcmul_(value, value, 1 - beta);
}

// sqrt(average / divisor) + epsilon
inline at::Tensor root(const at::Tensor& average, double divisor, double epsilon) {
  return average.div(divisor).sqrt_().add_(epsilon);
}

// 1 - beta^t, by which an average of t values that began at 0 is divided.
inline double bias_divisor(double beta, const OptimizerStep& step) {
  return 1 - std::pow(beta, static_cast<double>(step.state.step));
}

// A number of one parameter, in double precision, kept as a tensor so that it is saved with its state.
inline at::Tensor number_of(ParameterState& state, const std::string& name, double start) {
  at::Tensor& number = state.tensors[name];
  if (!number.defined()) number = at::full({}, start, at::kDouble);
  return number;
}

// Where the parameter was when its first step began.
inline const at::Tensor& start_of(const OptimizerStep& step) {
  at::Tensor& start = step.state.tensors["start"];
  if (!start.defined()) start = step.parameter.detach().clone();
  return start;
}

// The settings that all relatives of Adam have.
inline std::vector<OptimizerSetting> adam_settings(double beta1, double beta2) {
  return {{"beta1", beta1, SettingRange::share, "weight of the past in the average of gradients"},
          {"beta2", beta2, SettingRange::share, "weight of the past in the average of squares"},
          {"epsilon", 1e-8, SettingRange::not_negative, "added to the square root"}};
}

inline std::vector<OptimizerSetting> with(std::vector<OptimizerSetting> settings, const OptimizerSetting& another) {
  settings.push_back(another);
  return settings;
}

}  // namespace lipschitzlr::nn::optimizer

#pragma once
// What the update() of several optimizers has in common: running averages and the divisors made from them.

#include <ATen/core/Tensor.h>

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

}  // namespace lipschitzlr::nn::optimizer

#pragma once
// The number b by which WNGrad and WN-Adam divide their rate: b <- b + lr^2 ||g||^2 / b, from b0 > 0, ||g|| over all
// parameters (Wu, Ward, Bottou, WNGrad: Learn the Learning Rate in Gradient Descent, arXiv 1803.02865).

#include <ATen/ops/full.h>

#include "lipschitzlr/nn/optimizer.hpp"

namespace lipschitzlr::nn::optimizer {

// Every parameter keeps the number, in double precision, so that it is saved with its state.
inline double next_scale(const OptimizerStep& step) {
  at::Tensor& scale = step.state.tensors["scale"];
  if (!scale.defined()) scale = at::full({}, step.options.at("b0"), at::kDouble);
  const double before = scale.item<double>();
  scale.fill_(before + step.options.lr() * step.options.lr() * step.gradient_square / before);
  return scale.item<double>();
}

inline OptimizerSetting scale_setting() { return {"b0", 1, SettingRange::positive, "b at the start"}; }

}  // namespace lipschitzlr::nn::optimizer

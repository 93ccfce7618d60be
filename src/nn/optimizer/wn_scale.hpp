#pragma once
// The number b by which WNGrad and WN-Adam divide their rate: b <- b + lr^2 ||g||^2 / b, from b0 > 0, ||g|| over all
// parameters (Wu, Ward, Bottou, WNGrad: Learn the Learning Rate in Gradient Descent, arXiv 1803.02865).

#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/sums.hpp"

namespace lipschitzlr::nn::optimizer {

class WnScaled : public Optimizer {
 public:
  using Optimizer::Optimizer;

 protected:
  void begin_updates(const std::vector<OptimizerStep>& all) override {
    gradient_square_ = 0;
    for (const OptimizerStep& one : all) gradient_square_ += sum_of_squares(one.gradient);
  }

  // Every parameter keeps b, as groups have rates and b0 of their own.
  double next_scale(const OptimizerStep& step) const {
    const at::Tensor scale = number_of(step.state, "scale", step.options.at("b0"));
    const double before = scale.item<double>();
    scale.fill_(before + step.options.lr() * step.options.lr() * gradient_square_ / before);
    return scale.item<double>();
  }

 private:
  double gradient_square_ = 0;
};

inline OptimizerSetting scale_setting() { return {"b0", 1, SettingRange::positive, "b at the start"}; }

}  // namespace lipschitzlr::nn::optimizer

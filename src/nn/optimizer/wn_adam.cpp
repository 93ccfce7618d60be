// WN-Adam: Wu, Ward, Bottou, WNGrad: Learn the Learning Rate in Gradient Descent, arXiv 1803.02865: Adam's average of
// gradients, WNGrad's rate.
//   m <- beta1 m + (1-beta1) g;   b <- b + lr^2 ||g||^2 / b;   w <- w - lr/b m / (1 - beta1^t)

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/wn_scale.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class WnAdam : public WnScaled {
  using WnScaled::WnScaled;

  void update(const OptimizerStep& step) override {
    const double beta1 = step.options.at("beta1");
    at::Tensor& average = step.state.zeros("average", step.gradient);
    average_into(average, step.gradient, beta1);
    step.parameter.sub_(average, step.options.lr() / next_scale(step) / bias_divisor(beta1, step));
  }
};

}  // namespace

Entry wn_adam() {
  return entry<WnAdam>(
      {.name = "wn-adam",
       .summary = "an average of gradients with WNGrad's rate",
       .rate = 1,
       .paper = "Wu, Ward, Bottou: WNGrad: Learn the Learning Rate in Gradient Descent, 2018",
       .settings = {{"beta1", 0.9, SettingRange::share, "weight of the past in the average of gradients"},
                    scale_setting()}});
}

}  // namespace lipschitzlr::nn::optimizer

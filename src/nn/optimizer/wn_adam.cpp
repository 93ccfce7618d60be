// WN-Adam: Wu, Ward, Bottou, WNGrad: Learn the Learning Rate in Gradient Descent, arXiv 1803.02865: Adam's average of
// gradients, WNGrad's rate.
//   m <- beta1 m + (1-beta1) g;   b <- b + lr^2 ||g||^2 / b;   w <- w - lr/b m / (1 - beta1^t)

#include <cmath>

#include "nn/optimizer/entry.hpp"
#include "nn/optimizer/wn_scale.hpp"
#include "nn/optimizer/work.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class WnAdam : public PeerOptimizer {
  using PeerOptimizer::PeerOptimizer;

  bool needs_gradient_square() const override { return true; }

  void update(const PeerStep& step) override {
    const double beta1 = step.options.at("beta1");
    at::Tensor& average = step.state.zeros("average", step.gradient);
    average_into(average, step.gradient, beta1);
    const double correction = 1 - std::pow(beta1, static_cast<double>(step.state.step()));
    at::Tensor(step.parameter).sub_(average, step.options.lr() / next_scale(step) / correction);
  }
};

}  // namespace

Entry wn_adam() {
  return peer<WnAdam>(
      {.name = "wn-adam",
       .summary = "an average of gradients with WNGrad's rate",
       .rate = 1,
       .paper = "Wu, Ward, Bottou: WNGrad: Learn the Learning Rate in Gradient Descent, 2018",
       .settings = {{"beta1", 0.9, SettingRange::share, "weight of the past in the average of gradients"},
                    scale_setting()}});
}

}  // namespace lipschitzlr::nn::optimizer

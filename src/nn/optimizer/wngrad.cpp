// WNGrad: Wu, Ward, Bottou, WNGrad: Learn the Learning Rate in Gradient Descent, arXiv 1803.02865.
//   b <- b + lr^2 ||g||^2 / b;   w <- w - lr/b g
// The paper's own algorithm has lr = 1 and one b for all parameters; its authors' code for networks has a b per row.

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/wn_scale.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class WnGrad : public WnScaled {
  using WnScaled::WnScaled;

  void update(const OptimizerStep& step) override {
    step.parameter.sub_(step.gradient, step.options.lr() / next_scale(step));
  }
};

}  // namespace

Entry wngrad() {
  return entry<WnGrad>({.name = "wngrad",
                        .summary = "SGD whose rate falls with the gradients seen",
                        .rate = 1,
                        .paper = "Wu, Ward, Bottou: WNGrad: Learn the Learning Rate in Gradient Descent, 2018",
                        .settings = {scale_setting()}});
}

}  // namespace lipschitzlr::nn::optimizer

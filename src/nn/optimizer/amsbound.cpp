// AMSBound: AMSGrad whose step sizes are held between bounds that close in on SGD's (nn/optimizer/bounds.hpp).

#include <ATen/ops/maximum.h>

#include "nn/optimizer/bounds.hpp"
#include "nn/optimizer/registry_entry.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AmsBound : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    at::Tensor& largest = step.state.zeros("largest", step.gradient);
    at::maximum_out(largest, largest, move_averages(step));
    bounded_step(step, largest, controller().rule().rate());
  }
};

}  // namespace

Entry amsbound() {
  return entry<AmsBound>({.name = "amsbound",
                          .summary = "AMSGrad that becomes SGD",
                          .rate = 0.001,
                          .paper = kBoundPaper,
                          .settings = bound_settings()});
}

}  // namespace lipschitzlr::nn::optimizer

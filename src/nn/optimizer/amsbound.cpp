// AMSBound: AMSGrad whose step sizes are held between bounds that close in on SGD's (nn/optimizer/bounds.hpp).

#include <ATen/ops/maximum.h>

#include "nn/optimizer/bounds.hpp"
#include "nn/optimizer/entry.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AmsBound : public PeerOptimizer {
  using PeerOptimizer::PeerOptimizer;

  void update(const PeerStep& step) override {
    at::Tensor& largest = step.state.zeros("largest", step.gradient);
    at::maximum_out(largest, largest, move_averages(step));
    bounded_step(step, largest);
  }
};

}  // namespace

Entry amsbound() {
  return peer<AmsBound>({.name = "amsbound",
                         .summary = "AMSGrad that becomes SGD",
                         .rate = 0.001,
                         .paper = kBoundPaper,
                         .settings = bound_settings()});
}

}  // namespace lipschitzlr::nn::optimizer

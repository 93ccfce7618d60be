// AdaBound: Adam whose step sizes are held between bounds that close in on SGD's (nn/optimizer/bounds.hpp).

#include "nn/optimizer/bounds.hpp"
#include "nn/optimizer/entry.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AdaBound : public PeerOptimizer {
  using PeerOptimizer::PeerOptimizer;

  void update(const PeerStep& step) override { bounded_step(step, move_averages(step)); }
};

}  // namespace

Entry adabound() {
  return peer<AdaBound>({.name = "adabound",
                         .summary = "Adam that becomes SGD",
                         .rate = 0.001,
                         .paper = kBoundPaper,
                         .settings = bound_settings()});
}

}  // namespace lipschitzlr::nn::optimizer

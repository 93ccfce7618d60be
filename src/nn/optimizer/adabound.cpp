// AdaBound: Adam whose step sizes are held between bounds that close in on SGD's (nn/optimizer/bounds.hpp).

#include "nn/optimizer/bounds.hpp"
#include "nn/optimizer/registry_entry.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class AdaBound : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    bounded_step(step, move_averages(step), controller().rule().rate());
  }
};

}  // namespace

Entry adabound() {
  return entry<AdaBound>({.name = "adabound",
                          .summary = "Adam that becomes SGD",
                          .rate = 0.001,
                          .paper = kBoundPaper,
                          .settings = bound_settings()});
}

}  // namespace lipschitzlr::nn::optimizer

// The paper's four, with rates computed by their rules (nn/optimizers.hpp). Their baseline rates: paper, section 9.3.4.

#include "lipschitzlr/nn/optimizers.hpp"
#include "nn/optimizer/groups.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

template <class Optimizer>
ChosenOptimizer make(const Parts& parts) {
  LipschitzOptions options;
  options.bias_correction(parts.options.correct_averages);
  auto optimizer = std::make_unique<Optimizer>(make_groups(parts, options), parts.network.head()->tap(),
                                               parts.controller, options, parts.buffers());
  RateController* controller = &optimizer->controller();
  return {std::move(optimizer), nullptr, controller};
}

}  // namespace

Entry sgd() { return {{"sgd", "the paper's: plain steps", 0.01}, "sgd", make<LipschitzSGD>}; }
Entry adamo() { return {{"adamo", "the paper's: an average of gradients", 0.01}, "adamo", make<AdaMo>}; }
Entry rmsprop() {
  return {{"rmsprop", "the paper's: RMSprop with a computed rate", 0.001}, "rmsprop", make<AdaptiveRMSprop>};
}
Entry auto_adam() {
  return {{"auto-adam", "the paper's: Adam with a computed rate", 0.001}, "auto-adam", make<AutoAdam>};
}

}  // namespace lipschitzlr::nn::optimizer

#pragma once
// A computed rate for an optimizer of libtorch's, in a loop of your own:
//
//   Head head(32, 10);                                   // where Linear stood; it knows that there are 10 classes
//   torch::optim::SGD sgd(model->parameters(), 0.1);     // the rate it is given does not matter
//   LipschitzRate rate(sgd, head);
//   each step:  sgd.zero_grad();  loss.backward();  rate.step();
//
// The rule comes from the optimizer, and beta, beta1, beta2, epsilon and bias correction of the rule from its options:
//   SGD                     sgd
//   SGD with momentum mu    adamo, with the rate times (1 - mu) / (1 - dampening): libtorch's velocity is a sum,
//   AdaMo's
//                           an average. The steps are then AdaMo's.
//   Adam, AdamW             auto-adam
//   RMSprop                 rmsprop, with momentum mu the rate times 1 - mu
// The loss is cross-entropy over the outputs of the head, unless options say otherwise; for a head of one output they
// must. The rate is computed anew in every step, as the paper's algorithms do, unless options give
// steps_per_epoch; then once per epoch, as for its tables. Nothing else has to be called.

#include <functional>

#include "lipschitzlr/nn/controller.hpp"

namespace lipschitzlr::nn {

class LipschitzRate : private RateController {
 public:
  // The optimizer must outlive the object. All its groups get the same rate. Throws Error (usage) when the optimizer is
  // of another kind and options name no rule.
  LipschitzRate(torch::optim::Optimizer& optimizer, std::shared_ptr<Tap> tap, ControllerOptions options = {});

  // Sets the rate, then the optimizer's step. A closure, as libtorch's optimizers take one, is called first.
  at::Tensor step(const std::function<at::Tensor()>& closure = nullptr);

  // Beside what the optimizer itself saves: save() and load() of its rate.
  using RateController::join, RateController::load, RateController::numbers, RateController::options,
      RateController::rate, RateController::rule, RateController::save, RateController::steps;

 private:
  torch::optim::Optimizer& driven_;
};

}  // namespace lipschitzlr::nn

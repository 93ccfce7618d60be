#pragma once
// The paper's optimizers for a libtorch training loop. There is no rate to set: each has a rule that computes it. With
// eta that rate and g the gradient (plus weight_decay w, per group):
//   LipschitzSGD      w <- w - eta g
//   AdaMo             V <- beta V + (1-beta) g;                                  w <- w - eta V
//   AdaptiveRMSprop   v <- beta v + (1-beta) g^2;                                w <- w - eta g / (sqrt(v) + epsilon)
//   AutoAdam          m, v as averages with beta1, beta2;                        w <- w - eta m / (sqrt(v) + epsilon)
// With bias correction each average is divided by 1 - beta^t, t counting the steps of its parameter.
//
//   Head head(64, 10);                            // where Linear stood; it knows that there are 10 classes
//   AdaMo optimizer(model->parameters(), head);
//   each step:  optimizer.zero_grad();  loss.backward();  optimizer.step();

#include "lipschitzlr/nn/optimizer.hpp"

namespace lipschitzlr::nn {

// The four differ in their rule and their update only; each takes parameters or groups, and the head or its tap.
#define LIPSCHITZLR_OPTIMIZER(Name, rule)                                                                     \
  class Name : public Optimizer {                                                                             \
   public:                                                                                                    \
    using Optimizer::Optimizer;                                                                               \
    Name(Groups groups, std::shared_ptr<Tap> tap, const ControllerOptions& options = {},                      \
         const OptimizerOptions& defaults = {}, const std::vector<at::Tensor>& buffers = {})                  \
        : Optimizer(paper_context(rule, std::move(groups), std::move(tap), options, defaults, buffers)) {}    \
    Name(std::vector<at::Tensor> parameters, std::shared_ptr<Tap> tap, const ControllerOptions& options = {}, \
         const OptimizerOptions& defaults = {}, const std::vector<at::Tensor>& buffers = {})                  \
        : Name(Groups{std::move(parameters)}, std::move(tap), options, defaults, buffers) {}                  \
                                                                                                              \
   protected:                                                                                                 \
    void update(const OptimizerStep& step) override;                                                          \
  }

// Of the optimizer that has its rule's name, unless options name another rule.
OptimizerContext paper_context(const char* rule, Optimizer::Groups groups, std::shared_ptr<Tap> tap,
                               ControllerOptions options, const OptimizerOptions& defaults,
                               const std::vector<at::Tensor>& buffers);

LIPSCHITZLR_OPTIMIZER(LipschitzSGD, "sgd");
LIPSCHITZLR_OPTIMIZER(AdaMo, "adamo");
LIPSCHITZLR_OPTIMIZER(AdaptiveRMSprop, "rmsprop");
LIPSCHITZLR_OPTIMIZER(AutoAdam, "auto-adam");
#undef LIPSCHITZLR_OPTIMIZER

}  // namespace lipschitzlr::nn

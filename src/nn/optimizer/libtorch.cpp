// libtorch's SGD with momentum, Adam and AdamW, operation by operation, so that their bits are libtorch's (a test
// compares them); beta, beta1, beta2 and epsilon are the rule's.

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class Momentum : public Optimizer {
  using Optimizer::Optimizer;

  void update(const OptimizerStep& step) override {
    at::Tensor& velocity = step.state.tensors["velocity"];
    if (velocity.defined()) {
      velocity.mul_(rule_options().beta).add_(step.gradient);
    } else {
      velocity = step.gradient.clone();
    }
    step.parameter.add_(velocity, -step.options.lr());
  }
};

class Adam : public Optimizer {
  using Optimizer::Optimizer;

 protected:
  void update(const OptimizerStep& step) override {
    const rate::RuleOptions& rule = rule_options();
    const at::Tensor& average = average_into(step.state.zeros("average", step.parameter), step.gradient, rule.beta1);
    const at::Tensor& squares =
        average_squares_into(step.state.zeros("squares", step.parameter), step.gradient, rule.beta2);
    const at::Tensor root = (squares.sqrt() / std::sqrt(bias_divisor(rule.beta2, step))).add_(rule.epsilon);
    step.parameter.addcdiv_(average, root, -(step.options.lr() / bias_divisor(rule.beta1, step)));
  }
};

class AdamW : public Adam {
  using Adam::Adam;

  bool decays_gradient() const override { return false; }
  void update(const OptimizerStep& step) override {
    const double decay = step.options.weight_decay();
    if (decay != 0) step.parameter.mul_(1 - step.options.lr() * decay);
    Adam::update(step);
  }
};

}  // namespace

Entry momentum() { return entry<Momentum>({"momentum", "libtorch's SGD with momentum", 0.01}, "sgd"); }
Entry adam() { return entry<Adam>({"adam", "libtorch's", 0.001}, "auto-adam"); }
Entry adamw() {
  return entry<AdamW>({"adamw", "libtorch's, whose weight decay is no part of the gradient", 0.001}, "auto-adam");
}

}  // namespace lipschitzlr::nn::optimizer

// The paper's four, with rates computed by their rules (nn/optimizers.hpp). Their baseline rates: paper, section 9.3.4.

#include "lipschitzlr/nn/optimizers.hpp"
#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn {
namespace optimizer {
namespace {

// By which an average is divided.
double correction(const OptimizerStep& step, const rate::RuleOptions& rule, double beta) {
  return step.options.bias_correction().value_or(rule.bias_correction) ? bias_divisor(beta, step) : 1;
}

}  // namespace

Entry sgd() { return entry<LipschitzSGD>({"sgd", "the paper's: plain steps", 0.01}, "sgd"); }
Entry adamo() { return entry<AdaMo>({"adamo", "the paper's: an average of gradients", 0.01}, "adamo"); }
Entry rmsprop() {
  return entry<AdaptiveRMSprop>({"rmsprop", "the paper's: RMSprop with a computed rate", 0.001}, "rmsprop");
}
Entry auto_adam() {
  return entry<AutoAdam>({"auto-adam", "the paper's: Adam with a computed rate", 0.001}, "auto-adam");
}

}  // namespace optimizer

using optimizer::average_into, optimizer::average_squares_into, optimizer::correction, optimizer::root;

OptimizerContext paper_context(const char* rule, Optimizer::Groups groups, std::shared_ptr<Tap> tap,
                               ControllerOptions options, const OptimizerOptions& defaults,
                               const std::vector<at::Tensor>& buffers) {
  if (options.rule.empty()) options.rule = rule;
  return {.info = {.name = rule},
          .groups = std::move(groups),
          .tap = std::move(tap),
          .rate = std::move(options),
          .defaults = defaults,
          .buffers = buffers};
}

void LipschitzSGD::update(const OptimizerStep& step) { step.parameter.add_(step.gradient, -step.options.lr()); }

void AdaMo::update(const OptimizerStep& step) {
  const rate::RuleOptions& rule = rule_options();
  const at::Tensor& average = average_into(step.state.zeros("average", step.gradient), step.gradient, rule.beta);
  step.parameter.add_(average, -step.options.lr() / correction(step, rule, rule.beta));
}

void AdaptiveRMSprop::update(const OptimizerStep& step) {
  const rate::RuleOptions& rule = rule_options();
  const at::Tensor& squares =
      average_squares_into(step.state.zeros("squares", step.gradient), step.gradient, rule.beta);
  step.parameter.addcdiv_(step.gradient, root(squares, correction(step, rule, rule.beta), rule.epsilon),
                          -step.options.lr());
}

void AutoAdam::update(const OptimizerStep& step) {
  const rate::RuleOptions& rule = rule_options();
  const at::Tensor& average = average_into(step.state.zeros("average", step.gradient), step.gradient, rule.beta1);
  const at::Tensor& squares =
      average_squares_into(step.state.zeros("squares", step.gradient), step.gradient, rule.beta2);
  step.parameter.addcdiv_(average, root(squares, correction(step, rule, rule.beta2), rule.epsilon),
                          -step.options.lr() / correction(step, rule, rule.beta1));
}

}  // namespace lipschitzlr::nn

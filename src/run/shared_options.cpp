#include "run/shared_options.hpp"

namespace lipschitzlr::run {

Options rule_options(rate::RuleOptions& rule) {
  return {
      {"decay", &rule.decay, "divide the rate by 1 + DECAY t at step t: what the paper's tables call WD",
       Placeholder{"DECAY"}, at_least(0)},
      {"beta", &rule.beta, "AdaMo, RMSprop: weight of the past", share()},
      {"beta1", &rule.beta1, "Auto-Adam: weight of the past in K1", share()},
      {"beta2", &rule.beta2, "Auto-Adam: weight of the past in K2", share()},
      {"epsilon", &rule.epsilon, "RMSprop, Auto-Adam: added to square roots", at_least(0)},
      {"k1", &rule.initial_k1, "Auto-Adam: K1 at the start; the paper has 1", above(0)},
      {"k2", &rule.initial_k2, "Auto-Adam: K2 at the start; the paper has 1e-6", above(0)},
      {"hold_averages", &rule.hold_averages, "Auto-Adam: never move K1 and K2 from there"},
  };
}

Option watch_option(bool& watch) {
  return {"watch", &watch, "plots of loss and rate while it runs; into a file, once at the end", kMayChange};
}

}  // namespace lipschitzlr::run

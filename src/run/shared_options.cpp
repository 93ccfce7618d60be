#include "run/shared_options.hpp"

namespace lipschitzlr::run {

std::vector<std::string> stepping_solvers() { return {"gd", "accelerated", "sgd", "adamo", "rmsprop", "auto-adam"}; }

Options rule_options(rate::RuleOptions& rule, const std::string& solver) {
  const auto of = [&](std::vector<std::string> rules) {
    return solver.empty() ? OnlyWith() : OnlyWith{solver, std::move(rules)};
  };
  return {
      {"decay", &rule.decay, "divide the rate by 1 + DECAY t at step t: what the paper's tables call WD",
       Placeholder{"DECAY"}, at_least(0), of(stepping_solvers())},
      {"beta", &rule.beta, "AdaMo, RMSprop: weight of the past", share(), of({"adamo", "rmsprop"})},
      {"beta1", &rule.beta1, "Auto-Adam: weight of the past in K1", share(), of({"auto-adam"})},
      {"beta2", &rule.beta2, "Auto-Adam: weight of the past in K2", share(), of({"auto-adam"})},
      {"epsilon", &rule.epsilon, "RMSprop, Auto-Adam: added to square roots", at_least(0),
       of({"rmsprop", "auto-adam"})},
      {"k1", &rule.initial_k1, "Auto-Adam: K1 at the start; the paper has 1", above(0), of({"auto-adam"})},
      {"k2", &rule.initial_k2, "Auto-Adam: K2 at the start; the paper has 1e-6", above(0), of({"auto-adam"})},
      {"hold_averages", &rule.hold_averages, "Auto-Adam: never move K1 and K2 from there", of({"auto-adam"})},
  };
}

Option watch_option(bool& watch) {
  return {"watch", &watch, "plots of loss and rate while it runs; into a file, once at the end", kMayChange};
}

}  // namespace lipschitzlr::run

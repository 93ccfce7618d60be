#include "run/shared_options.hpp"

#include <fmt/format.h>

namespace lipschitzlr::run {

std::vector<std::string> stepping_solvers() { return {"gd", "accelerated", "sgd", "adamo", "rmsprop", "auto-adam"}; }

namespace {

// "rmsprop, auto-adam: "
std::string named(const std::vector<std::string>& values) { return fmt::format("{}: ", fmt::join(values, ", ")); }

}  // namespace

Options rule_options(rate::RuleOptions& rule, const RuleUsers& users) {
  const auto of = [&](const std::vector<std::string>& values) { return OnlyWith{users.option, values}; };
  return {
      {"decay", &rule.decay, "divide the rate by 1 + DECAY t at step t: what the paper's tables call WD",
       Placeholder{"DECAY"}, at_least(0), of(users.decay)},
      {"beta", &rule.beta, named(users.beta) + "weight of the past", share(), of(users.beta)},
      {"beta1", &rule.beta1, named(users.betas) + "weight of the past in K1", share(), of(users.betas)},
      {"beta2", &rule.beta2, named(users.betas) + "weight of the past in K2", share(), of(users.betas)},
      {"epsilon", &rule.epsilon, named(users.epsilon) + "added to square roots", at_least(0), of(users.epsilon)},
      {"k1", &rule.initial_k1, named(users.start) + "K1 at the start; the paper has 1", above(0), of(users.start)},
      {"k2", &rule.initial_k2, named(users.start) + "K2 at the start; the paper has 1e-6", above(0), of(users.start)},
      {"hold_averages", &rule.hold_averages, named(users.start) + "never move K1 and K2 from there", of(users.start)},
  };
}

Option watch_option(bool& watch) {
  return {"watch", &watch, "plots of loss and rate while it runs; into a file, once at the end", kMayChange};
}

}  // namespace lipschitzlr::run

#pragma once
// Options that several commands have, so that they are declared, read and behave alike everywhere.

#include "lipschitzlr/rate/options.hpp"
#include "lipschitzlr/run/option.hpp"

namespace lipschitzlr::run {

// With which values of another option the numbers of the rate rules do something; an empty list: with all.
struct RuleUsers {
  std::string option;
  std::vector<std::string> decay, beta, betas, epsilon, start;  // betas: beta1 and beta2; start: K1 and K2
};

// Numbers of the rate rules: --decay, --beta, --k1, ...
Options rule_options(rate::RuleOptions& rule, const RuleUsers& users);
// The solvers of `fit` that take steps of a rate.
std::vector<std::string> stepping_solvers();
Option watch_option(bool& watch);

}  // namespace lipschitzlr::run

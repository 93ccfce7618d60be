#pragma once
// Options that several commands have, so that they are declared, read and behave alike everywhere.

#include "lipschitzlr/rate/options.hpp"
#include "lipschitzlr/run/option.hpp"

namespace lipschitzlr::run {

// Numbers of the rate rules: --decay, --beta, --k1, ... solver: the option by whose value some of them do nothing;
// empty: any may do something.
Options rule_options(rate::RuleOptions& rule, const std::string& solver);
// The solvers of `fit` that take steps of a rate.
std::vector<std::string> stepping_solvers();
Option watch_option(bool& watch);

}  // namespace lipschitzlr::run

#pragma once
// Options that several commands have, so that they are declared, read and behave alike everywhere.

#include "lipschitzlr/rate/options.hpp"
#include "lipschitzlr/run/option.hpp"

namespace lipschitzlr::run {

// Numbers of the rate rules: --decay, --beta, --k1, ...
Options rule_options(rate::RuleOptions& rule);
Option watch_option(bool& watch);

}  // namespace lipschitzlr::run

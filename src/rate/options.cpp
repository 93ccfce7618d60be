#include "lipschitzlr/rate/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

void require(bool good, const char* option, double value, const char* wish) {
  if (good && std::isfinite(value)) return;
  throw Error(Fault::usage, fmt::format("the rate option {} is {}; it must be {}", option, value, wish));
}

void require_share(const char* option, double value) {
  require(value >= 0 && value < 1, option, value, "at least 0 and below 1");
}

void require_not_negative(const char* option, double value) {
  require(value >= 0, option, value, "a finite number, 0 or above");
}

void require_positive(const char* option, const std::optional<double>& value) {
  if (value) require(*value > 0, option, *value, "a finite number above 0");
}

}  // namespace

void check(const RuleOptions& options) {
  require_share("beta", options.beta);
  require_share("beta1", options.beta1);
  require_share("beta2", options.beta2);
  require_not_negative("epsilon", options.epsilon);
  require_not_negative("decay", options.decay);
  require_positive("rate", options.rate);
  require_positive("first_rate", options.first_rate);
  require_positive("initial_k1", options.initial_k1);
  require_positive("initial_k2", options.initial_k2);
  if (options.hold_averages && !(options.initial_k1 && options.initial_k2)) {
    throw Error(Fault::usage, "the rate option hold_averages needs initial_k1 and initial_k2");
  }
  if (options.hold_averages && options.bias_correction) {
    throw Error(Fault::usage, "the rate options hold_averages and bias_correction exclude each other");
  }
}

}  // namespace lipschitzlr::rate

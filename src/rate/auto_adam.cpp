#include "lipschitzlr/rate/auto_adam.hpp"

#include <cmath>

#include "lipschitzlr/rate/guard.hpp"

namespace lipschitzlr::rate {

AutoAdam::AutoAdam(const RuleOptions& options)
    : Rule(options), average1_(options.initial_k1.value_or(0)), average2_(options.initial_k2.value_or(0)) {}

Rule::Numbers AutoAdam::numbers() const { return {{"K1", average1_}, {"K2", average2_}}; }

void AutoAdam::set_numbers(const std::vector<double>& values) {
  average1_ = values.at(0);
  average2_ = values.at(1);
}

bool AutoAdam::rate_without_observation() const {
  return options().initial_k1.has_value() && options().initial_k2.has_value();
}

void AutoAdam::check_measurement(const Measurement& measurement) const {
  check_constant(name(), "G", measurement.gradient_bound);
  check_constant(name(), "S", measurement.second_moment);
}

void AutoAdam::update(const Measurement& measurement) {
  if (options().hold_averages) return;
  average1_ = past(options().beta1) * average1_ + (1 - past(options().beta1)) * measurement.gradient_bound;
  average2_ = past(options().beta2) * average2_ + (1 - past(options().beta2)) * measurement.second_moment;
}

double AutoAdam::computed_rate() const {
  const double first = average1_ / bias_divisor(options().beta1);
  const double second = average2_ / bias_divisor(options().beta2);
  return (std::sqrt(second) + options().epsilon) / first;
}

}  // namespace lipschitzlr::rate

#include "lipschitzlr/rate/rmsprop.hpp"

#include <cmath>

#include "lipschitzlr/rate/guard.hpp"

namespace lipschitzlr::rate {

RmsProp::RmsProp(const RuleOptions& options) : Rule(options) {}

Rule::Numbers RmsProp::numbers() const { return {{"K", average_}, {"denominator", denominator_}}; }

void RmsProp::set_numbers(const std::vector<double>& values) {
  average_ = values.at(0);
  denominator_ = values.at(1);
}

void RmsProp::check_measurement(const Measurement& measurement) const {
  check_constant(name(), "S", measurement.second_moment);
  if (options().coded_denominator) {
    check_constant(name(), "K_z", measurement.penultimate_norm);
  } else {
    check_constant(name(), "G", measurement.gradient_bound);
  }
}

void RmsProp::update(const Measurement& measurement) {
  average_ = past(options().beta) * average_ + (1 - past(options().beta)) * measurement.second_moment;
  denominator_ = options().coded_denominator ? measurement.penultimate_norm : measurement.gradient_bound;
}

double RmsProp::computed_rate() const {
  return (std::sqrt(average_ / bias_divisor(options().beta)) + options().epsilon) / denominator_;
}

}  // namespace lipschitzlr::rate

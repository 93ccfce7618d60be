#include "lipschitzlr/rate/adamo.hpp"

#include "lipschitzlr/rate/guard.hpp"

namespace lipschitzlr::rate {

AdaMo::AdaMo(const RuleOptions& options) : Rule(options), average_(options.first_rate.value_or(0)) {}

Rule::Numbers AdaMo::numbers() const { return {{"K", average_}}; }

void AdaMo::set_numbers(const std::vector<double>& values) { average_ = values.at(0); }

void AdaMo::check_measurement(const Measurement& measurement) const {
  check_constant(name(), "G", measurement.gradient_bound);
}

void AdaMo::update(const Measurement& measurement) {
  const double past = options().fixed ? 0 : options().beta;  // where K began is no part of a rate that stays
  average_ = past * average_ + (1 - past) * measurement.gradient_bound;
}

double AdaMo::computed_rate() const { return (options().fixed ? 1 : bias_divisor(options().beta)) / average_; }

}  // namespace lipschitzlr::rate

#include "lipschitzlr/rate/sgd.hpp"

#include "lipschitzlr/rate/guard.hpp"

namespace lipschitzlr::rate {

Sgd::Sgd(const RuleOptions& options) : Rule(options) {}

Rule::Numbers Sgd::numbers() const { return {{"G", gradient_bound_}}; }

void Sgd::set_numbers(const std::vector<double>& values) { gradient_bound_ = values.at(0); }

void Sgd::check_measurement(const Measurement& measurement) const {
  check_constant(name(), "G", measurement.gradient_bound);
}

void Sgd::update(const Measurement& measurement) { gradient_bound_ = measurement.gradient_bound; }

double Sgd::computed_rate() const { return 1 / gradient_bound_; }

}  // namespace lipschitzlr::rate

#pragma once
// A rate given by hand, the option rate: nothing is measured for it. Decay and schedules apply to it as to any other.

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

class Constant : public Rule {
 public:
  explicit Constant(const RuleOptions& options);  // throws Error (usage) without a rate
  std::string name() const override { return "constant"; }
  bool measures() const override { return false; }
  Numbers numbers() const override { return {}; }

 protected:
  void check_measurement(const Measurement&) const override {}
  void update(const Measurement&) override {}
  double computed_rate() const override { return *options().rate; }
  bool rate_without_observation() const override { return true; }
  void set_numbers(const std::vector<double>&) override {}
};

}  // namespace lipschitzlr::rate

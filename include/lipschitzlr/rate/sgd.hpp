#pragma once
// SGD with the rate eta = 1/G. Adaptive: G is the latest observation; with the option fixed, the first one for the
// whole run.

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

class Sgd : public Rule {
 public:
  explicit Sgd(const RuleOptions& options = {});
  std::string name() const override { return "sgd"; }
  Numbers numbers() const override;

 protected:
  void check_measurement(const Measurement& measurement) const override;
  void update(const Measurement& measurement) override;
  double computed_rate() const override;
  void set_numbers(const std::vector<double>& values) override;

 private:
  double gradient_bound_ = 0;
};

}  // namespace lipschitzlr::rate

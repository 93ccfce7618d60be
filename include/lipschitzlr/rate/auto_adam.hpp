#pragma once
// Auto-Adam (paper, algorithm 3): K1 <- beta1 K1 + (1 - beta1) G, K2 <- beta2 K2 + (1 - beta2) S and
// eta = (sqrt(K2) + epsilon) / K1. K1 and K2 may be given a start (section 10: 1 and 1e-6). The authors' published
// curve of that run moves away from sqrt(1e-6)/1 from the first epoch on, so the given values are a start and not
// fixed, whatever the text says; the option hold_averages fixes them.

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

class AutoAdam : public Rule {
 public:
  explicit AutoAdam(const RuleOptions& options = {});
  std::string name() const override { return "auto-adam"; }
  Numbers numbers() const override;

 protected:
  void check_measurement(const Measurement& measurement) const override;
  void update(const Measurement& measurement) override;
  double computed_rate() const override;
  void set_numbers(const std::vector<double>& values) override;
  bool rate_without_observation() const override;

 private:
  double average1_;
  double average2_;
};

}  // namespace lipschitzlr::rate

#pragma once
// Adaptive RMSprop (paper, algorithm 2): K <- beta K + (1 - beta) S and eta = (sqrt(K) + epsilon) / G with the latest
// G; as coded, the latest K_z stands in place of G. The first epoch may have a rate of its own (the paper: 1e-3).

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

class RmsProp : public Rule {
 public:
  explicit RmsProp(const RuleOptions& options = {});
  std::string name() const override { return "rmsprop"; }
  Numbers numbers() const override;

 protected:
  void check_measurement(const Measurement& measurement) const override;
  void update(const Measurement& measurement) override;
  double computed_rate() const override;
  void set_numbers(const std::vector<double>& values) override;

 private:
  double average_ = 0;
  double denominator_ = 0;
};

}  // namespace lipschitzlr::rate

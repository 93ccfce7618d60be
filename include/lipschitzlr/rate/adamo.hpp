#pragma once
// AdaMo, gradient descent with momentum (paper, algorithm 1): K <- beta K + (1 - beta) G and eta = 1/K, for the
// velocity V <- beta V + (1 - beta) g (an average, not heavy ball). With the option first_rate = x the rate of the
// first epoch IS x, and K starts at x too, as in the authors' code; without it K starts at 0 as in the algorithm. Bias
// correction divides K by 1 - beta^t wherever it started.

#include "lipschitzlr/rate/rule.hpp"

namespace lipschitzlr::rate {

class AdaMo : public Rule {
 public:
  explicit AdaMo(const RuleOptions& options = {});
  std::string name() const override { return "adamo"; }
  Numbers numbers() const override;

 protected:
  void check_measurement(const Measurement& measurement) const override;
  void update(const Measurement& measurement) override;
  double computed_rate() const override;
  void set_numbers(const std::vector<double>& values) override;

 private:
  double average_ = 0;
};

}  // namespace lipschitzlr::rate

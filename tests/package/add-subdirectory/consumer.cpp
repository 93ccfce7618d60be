// The smallest use of the library: a constant, and the rate that follows from it.

#include <cmath>

#include "lipschitzlr/bound/loss.hpp"
#include "lipschitzlr/rate/registry.hpp"

int main() {
  using namespace lipschitzlr;
  // ||X||_F / 2m with ||X||_F = 5 and m = 2
  const bound::Constant constant = bound::logistic_regression(bound::ConstantKind::published, 5, 7, 2);
  const auto rule = rate::make_rule("sgd");
  rule->observe({.gradient_bound = constant.value});
  return std::abs(rule->rate() - 0.8) < 1e-12 ? 0 : 1;
}

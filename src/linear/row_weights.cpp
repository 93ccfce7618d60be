#include "lipschitzlr/linear/row_weights.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {

std::vector<double> balanced_class_weights(const Vector<double>& targets, Index classes) {
  std::vector<double> weights(static_cast<std::size_t>(classes));
  for (const double target : targets) ++weights.at(static_cast<std::size_t>(target));
  const double share = static_cast<double>(targets.size()) / static_cast<double>(classes);
  for (double& weight : weights) weight = weight > 0 ? share / weight : 0;
  return weights;
}

Vector<double> row_weights_of(const Vector<double>& targets, const std::vector<double>& class_weights) {
  for (const double weight : class_weights) {
    if (std::isfinite(weight) && weight >= 0) continue;
    throw Error(Fault::usage,
                fmt::format("the weight of a class is {}; it must be a finite number, 0 or above", weight));
  }
  return targets.unaryExpr([&](double target) {
    if (target >= 0 && target < static_cast<double>(class_weights.size())) {
      return class_weights[static_cast<std::size_t>(target)];
    }
    throw Error(Fault::usage, fmt::format("there are weights for {} classes, but a row is of class {}",
                                          class_weights.size(), target + 1));
  });
}

}  // namespace lipschitzlr::linear

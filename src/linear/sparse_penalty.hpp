#pragma once
// What the solvers of an L1 penalty share.

#include <cmath>

#include "linear/full_pass.hpp"

namespace lipschitzlr::linear {

inline double shrunk(double x, double by) { return x > by ? x - by : x < -by ? x + by : 0; }

// The weights with a penalty come first.
template <class Scalar>
Index penalized_features(const Problem<Scalar>& problem) {
  return problem.features() - (problem.setup().penalty.spare_last ? 1 : 0);
}

// The loss with all of the penalty: a pass is without L1.
template <class Scalar>
double sparse_loss(const Problem<Scalar>& problem, const FullPass& pass) {
  return pass.loss +
         problem.setup().penalty.l1 * pass.weights.topRows(penalized_features(problem)).template lpNorm<1>();
}

// What is left of the gradient once the L1 penalty has absorbed all it can: 0 at the optimum.
template <class Scalar>
Weights<double> leftover_gradient(const Problem<Scalar>& problem, const FullPass& pass) {
  const double l1 = problem.setup().penalty.l1;
  const Index kept = penalized_features(problem);
  Weights<double> left = pass.gradient;
  for (Index j = 0; j < kept; ++j) {
    for (Index c = 0; c < left.cols(); ++c) {
      const double w = pass.weights(j, c);
      left(j, c) = w != 0 ? left(j, c) + std::copysign(l1, w) : shrunk(left(j, c), l1);
    }
  }
  return left;
}

}  // namespace lipschitzlr::linear

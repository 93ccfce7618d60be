#pragma once
// Small random problems for the tests of this folder, with a known seed.

#include <memory>

#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

inline DenseMatrix<double> random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  DenseMatrix<double> matrix(rows, columns);
  for (double& value : matrix.reshaped<Eigen::RowMajor>()) value = random.normal();
  return matrix;
}

// Targets that depend on the features, with noise: numbers, or classes 0 .. classes-1 (2 for logistic).
inline Vector<double> random_targets(Family family, const DenseMatrix<double>& features, Index classes,
                                     std::uint64_t seed) {
  Random random(seed);
  Vector<double> targets(features.rows());
  for (Index i = 0; i < features.rows(); ++i) {
    const double score = features(i, 0) + 0.5 * features.row(i).sum() + 0.3 * random.normal();
    if (family == Family::linear) {
      targets[i] = score;
    } else {
      const Index count = family == Family::logistic ? 2 : classes;
      targets[i] = static_cast<double>(
          std::clamp<Index>(static_cast<Index>(score + static_cast<double>(count) / 2), 0, count - 1));
    }
  }
  return targets;
}

template <class Scalar = double>
std::unique_ptr<Problem<Scalar>> random_problem(Family family, ThreadPool& pool, Index rows = 60, Index columns = 5,
                                                Penalty penalty = {}) {
  const Index classes = family == Family::softmax ? 3 : 1;
  const DenseMatrix<double> features = random_matrix(rows, columns, 11);
  const Vector<double> targets = random_targets(family, features, classes, 12);
  ProblemSetup setup{family, classes, std::move(penalty), 4.0};
  return std::make_unique<Problem<Scalar>>(DenseMatrix<Scalar>(features.template cast<Scalar>()),
                                           Vector<Scalar>(targets.template cast<Scalar>()), setup, pool);
}

}  // namespace lipschitzlr::linear

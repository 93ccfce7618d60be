#pragma once
// One pass over all rows in double, whatever the features are, with what second-order solvers and certificates need
// beside the gradient. Same bits for any number of threads; collective where the problem is.

#include <Eigen/Core>
#include <optional>

#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

struct FullPass {
  Weights<double> weights;            // where
  double loss = 0;                    // with the penalty
  Weights<double> gradient;           // with the penalty
  DenseMatrix<double> probabilities;  // of this process' rows: one column for logistic, none for least squares
  bool separated = false;             // every row of every process has its class as the strictly largest score
  std::optional<double> gap = {};     // f(w) - f* is at most this, where the pass itself proves it
};

template <class Scalar>
FullPass full_pass(const Problem<Scalar>& problem, const Weights<double>& weights);

// The same where loss and gradient are known.
FullPass with_probabilities(const Problem<double>& problem, const Weights<double>& weights, double loss,
                            const Weights<double>& gradient);

// X'R over the rows of all processes; R has this process' rows.
template <class Scalar>
Weights<double> transposed_product(const Problem<Scalar>& problem, const DenseMatrix<double>& rows);

// The squared norm of every column over the rows of all processes, each times its weight.
template <class Scalar>
Vector<double> column_squares(const Problem<Scalar>& problem);

// max over the rows x of all processes of the sum of (s_j x_j)^2.
template <class Scalar>
double largest_scaled_square(const Problem<Scalar>& problem, const Vector<double>& scale);

}  // namespace lipschitzlr::linear

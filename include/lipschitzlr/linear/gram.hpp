#pragma once
// The weighted Gram matrix X'DX with D = diag(d), in double whatever the features are: the Hessian of least squares (d
// = 1/m), of logistic regression (d = p(1-p)/m), and the matrix behind bound/matrix.hpp. Blocked and threaded, with the
// same bits for any number of threads. With a communicator the features are this process' rows, possibly none, and the
// sum is over the rows of all processes.

#include <Eigen/Core>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/parallel.hpp"

namespace lipschitzlr::linear {

// d has one entry per row, of any sign; empty: all 1. Symmetric, n x n. Dense, sparse or streamed features, float or
// double. Throws Error (usage) when d has another size.
template <class Matrix>
Eigen::MatrixXd gram(const Matrix& features, const Vector<double>& d, ThreadPool& pool,
                     Communicator* communicator = nullptr);

// [X y]'D[X y]: the same with a row and a column for the targets, X'Dy and y'Dy, from one pass over the rows.
template <class Matrix>
Eigen::MatrixXd gram_with_targets(const Matrix& features, const Vector<typename Matrix::Scalar>& targets,
                                  const Vector<double>& d, ThreadPool& pool, Communicator* communicator = nullptr);

// What rounding changes an entry x_i'Dx_j of both by at most, as a share of |x_i||x_j| with the lengths in D (no entry
// of which is negative). rows: of all processes.
template <class Matrix>
double gram_error(const Matrix& features, Index rows, Communicator* communicator = nullptr);

}  // namespace lipschitzlr::linear

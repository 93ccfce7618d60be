#pragma once
// The Cholesky factor of a symmetric positive definite matrix, A = LL', with the kernels of the processor's instruction
// set: Eigen's own is compiled for any processor of the family. The same bits for any number of threads.

#include <Eigen/Core>

#include "lipschitzlr/base/parallel.hpp"

namespace lipschitzlr {

class Cholesky {
 public:
  // Reads the lower triangle of a square matrix. A pool makes large ones faster; it is used here only.
  explicit Cholesky(const Eigen::MatrixXd& matrix, ThreadPool* pool = nullptr);

  // False when a pivot was not positive: the matrix is not positive definite, to rounding, and nothing below has a
  // meaning.
  bool succeeded() const { return succeeded_; }

  Eigen::MatrixXd lower() const;  // L
  // A^-1 B and L'^-1 B.
  Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const;
  Eigen::MatrixXd solve_upper(const Eigen::MatrixXd& right) const;
  // The trace of A^-1: the squared norm of L^-1.
  double inverse_trace() const;
  // 1 / (|A| |A^-1|) in the norm of the largest column sum, the second factor by Hager's estimate from below.
  double reciprocal_condition() const;

 private:
  Eigen::VectorXd solve_column(const Eigen::VectorXd& right) const;
  Eigen::MatrixXd solve_columns(const Eigen::MatrixXd& right) const;

  Eigen::Index size_ = 0;
  Eigen::MatrixXd factor_;  // of A with an identity beside it that fills the last block; rubbish above the diagonal
  double norm_ = 0;         // of A
  bool succeeded_ = false;
};

}  // namespace lipschitzlr

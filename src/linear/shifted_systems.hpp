#pragma once
// (C + lambda I) w = b for many lambda, C symmetric without negative eigenvalues. All solutions lie in the Krylov space
// of b, in whose orthonormal basis V, grown by Lanczos' steps, C is tridiagonal:
//   w = V (T + lambda I)^-1 V'b
// A step costs a product with C, a lambda as many numbers as there were steps. They end where the residual proves every
// solution, or where the space is all that C can reach from b.

#include <Eigen/Core>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::linear {

class ShiftedSystems {
 public:
  // least_shift > 0: the smallest lambda that will be asked for.
  ShiftedSystems(const DenseMatrix<double>& matrix, const Vector<double>& right, double least_shift);

  Eigen::MatrixXd solve(const std::vector<double>& shifts) const;  // a column for each, none below the least
  Index steps() const { return diagonal_.size(); }

 private:
  double norm_;  // of b
  Eigen::MatrixXd basis_;
  Vector<double> diagonal_, beside_;  // of T; beside_[k] couples k and k+1
};

}  // namespace lipschitzlr::linear

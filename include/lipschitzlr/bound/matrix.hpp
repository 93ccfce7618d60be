#pragma once
// The constant of the gradient as a matrix: B with B >= the Hessian everywhere (in the order of symmetric matrices), so
// that a step with it never raises the loss, f(w - B^-1 g) <= f(w) - 1/2 g'B^-1 g. The rate 1/beta is the case B = beta
// I. With S = X'X/m and P the Hessian of the penalty, lambda I + 2 Gamma'Gamma,
//   least squares S + P, exact     logistic S/4 + P     softmax S/2 + P for each output
// The last one is Boehning's (I - 11'/k)/2 (x) S on all directions that change a prediction, and no smaller elsewhere.

#include <Eigen/Core>
#include <Eigen/QR>
#include <optional>

#include "lipschitzlr/base/cholesky.hpp"
#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::bound {

inline constexpr double kLeastSquaresCurvature = 1, kLogisticCurvature = 0.25, kSoftmaxCurvature = 0.5;

// A symmetric matrix without negative eigenvalues, factored: Cholesky with a unit diagonal, and where that is singular
// to rounding a complete orthogonal decomposition, whose solutions are those of the least norm.
class CurvatureMatrix {
 public:
  // Throws Error (usage) unless it is square, Error (data) when an entry is not finite or the diagonal is negative.
  // A pool makes a large one faster.
  explicit CurvatureMatrix(Eigen::MatrixXd matrix, ThreadPool* pool = nullptr);

  // B^-1 g for each column of g.
  Eigen::MatrixXd step(const Eigen::MatrixXd& gradient) const;
  // g'B^-1 g summed over the columns: twice the promised descent. Infinite when g has a part that B does not reach, so
  // that no such promise can be made.
  double decrement(const Eigen::MatrixXd& gradient) const;
  // An upper bound of the largest eigenvalue of C^-1 and the scaling of it: B = diag(1/s) C diag(1/s), C with a unit
  // diagonal. Infinite when singular.
  double inverse_bound() const;
  const Vector<double>& scale() const { return scale_; }  // s; 0 for a column of zeros

  // An estimate of the condition number of C; infinite when singular.
  double condition() const { return condition_; }
  Index rank() const { return rank_; }
  Index size() const { return scale_.size(); }

 private:
  Vector<double> scale_;
  Eigen::MatrixXd unit_;  // C
  std::optional<Cholesky> cholesky_;
  std::optional<Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>> orthogonal_;
  double condition_;
  Index rank_;
};

}  // namespace lipschitzlr::bound

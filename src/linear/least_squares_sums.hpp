#pragma once
// Least squares from one pass over the rows: loss, gradient and certificate at any weights from X'X, X'y and y'y. With
// the columns z of [X y], t = (w, -1) and e the relative error of a product z_i'z_j (gram_error), that is of
// |z_i||z_j|, and r = sum |t_i||z_i|, rounding changes
//   the loss t'Z'Zt/2      by at most e r^2 / 2,
//   its gradient, entry j, by at most e r |z_j|,
//   H, scaled to a unit diagonal and with the smallest eigenvalue s, by at most n e,
// so that with what was computed f(w) - f* <= (sqrt(g'H^-1 g) + e r sqrt(n/s))^2 / 2 (1 - n e/s).

#include <Eigen/Core>
#include <optional>

#include "linear/full_pass.hpp"
#include "lipschitzlr/bound/matrix.hpp"

namespace lipschitzlr::linear {

class LeastSquaresSums {
 public:
  template <class Scalar>
  explicit LeastSquaresSums(const Problem<Scalar>& problem);  // collective

  const bound::CurvatureMatrix& hessian() const { return hessian_; }
  // What full_pass finds at 0.
  FullPass pass_at_zero() const;
  // What full_pass finds, with a proven gap; nothing where rounding might change the loss by more than the given share
  // of it or by what can be seen of it, or the gap by much.
  std::optional<FullPass> pass_at(const Weights<double>& weights, double gap_share) const;

 private:
  double inverse_bound_by_penalty() const;
  double distortion() const;  // n e/s at most

  Penalty penalty_;
  Eigen::MatrixXd sums_;  // of [X y], divided by the weight of all rows
  double error_;          // e, with that of what is computed from the sums
  bound::CurvatureMatrix hessian_;
  double inverse_bound_;  // of 1/s
};

}  // namespace lipschitzlr::linear

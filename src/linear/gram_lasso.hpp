#pragma once
// Least squares with an L1 penalty, from G = X'X/m, b = X'y/m and y'y/m: the rows are read once for all penalties. The
// gradient is Gw - b, the loss (y'y/m - 2b'w + w'Gw) / 2. A spared last weight takes its best value, v = (b_v - G_v'w)
// / G_vv, which leaves the same problem of the others with G - G_v G_v'/G_vv, b - b_v G_v/G_vv and y'y/m - b_v^2/G_vv.

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

inline constexpr double kLeftOver = 1e-4;  // of a sum of squares: differences of less have lost digits

class GramLasso {
 public:
  GramLasso(Eigen::MatrixXd gram, Eigen::VectorXd product, double square, bool spare_last);

  // False where sums of squares with the means in them have lost the digits of what is left without the means.
  bool is_safe() const { return safe_; }
  // The optimum for l1 > 0 and l2, from the weights of the call before, with a duality gap of at most this share of the
  // loss, or of rounding in the sums.
  Eigen::VectorXd solve(double l1, double l2, double gap_tolerance);

 private:
  std::vector<Index> working_set(const Eigen::VectorXd& slope, double l1) const;
  Eigen::VectorXd with_last() const;

  Eigen::MatrixXd gram_;     // of the penalised weights, the spared one taken out
  Eigen::VectorXd product_;  // of these too
  double square_;
  bool spared_, safe_ = true;
  Eigen::VectorXd last_column_;  // G_v / G_vv
  double last_alone_ = 0;        // b_v / G_vv
  Eigen::VectorXd weights_;
};

// Nothing unless the problem is least squares of so few features that G is worth its time, and safe. Collective.
template <class Scalar>
std::optional<GramLasso> gram_lasso(const Problem<Scalar>& problem);

}  // namespace lipschitzlr::linear

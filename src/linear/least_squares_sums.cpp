#include "linear/least_squares_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "linear/certificate.hpp"
#include "linear/hessian.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kVisibleError = 1e-8;   // of a loss, relative
constexpr double kMostDistortion = 0.1;  // n e/s

bound::CurvatureMatrix hessian_of(const Eigen::MatrixXd& sums, const Penalty& penalty, ThreadPool& pool) {
  Eigen::MatrixXd matrix = sums.topLeftCorner(sums.rows() - 1, sums.cols() - 1);
  add_curvature(penalty, matrix);
  return bound::CurvatureMatrix(std::move(matrix), &pool);
}

template <class Scalar>
double error_of_sums(const Problem<Scalar>& problem) {
  const double products = std::visit(
      [&](const auto& matrix) { return gram_error(matrix, problem.rows(), problem.communicator()); }, problem.matrix());
  // Divided by the weight of all rows, and multiplied with weights and added up once more.
  return products + static_cast<double>(problem.features() + 4) * std::numeric_limits<double>::epsilon() / 2;
}

}  // namespace

template <class Scalar>
LeastSquaresSums::LeastSquaresSums(const Problem<Scalar>& problem)
    : penalty_(problem.setup().penalty),
      sums_(mean_gram_with_targets(problem)),
      error_(error_of_sums(problem)),
      hessian_(hessian_of(sums_, penalty_, problem.pool())),
      inverse_bound_(inverse_bound_by_penalty()) {
  if (!(distortion() <= kMostDistortion)) inverse_bound_ = hessian_.inverse_bound();
}

// Usually good enough, and without the inverse of H. Of the exact sums, scaled to a unit diagonal, s is at least the
// share p that the penalty has in the diagonal of H. Where the last weight has none, that holds of what H leaves when
// that weight is free, and the inverse of all of H is at most 1 + (1 + |u|^2) / p, u being the last column, of entries
// up to 1.
double LeastSquaresSums::inverse_bound_by_penalty() const {
  const Index n = hessian_.size(), kept = penalty_.spare_last ? n - 1 : n;
  const double share = kept == 0 ? 0 : penalty_.l2 * hessian_.scale().head(kept).cwiseAbs2().minCoeff();
  const double least = 1 / (1 + static_cast<double>(1 + n) / share) - static_cast<double>(n) * error_;
  return least > 0 ? 1 / least : std::numeric_limits<double>::infinity();
}

double LeastSquaresSums::distortion() const { return static_cast<double>(hessian_.size()) * error_ * inverse_bound_; }

FullPass LeastSquaresSums::pass_at_zero() const {
  const Index n = hessian_.size();
  return {Weights<double>::Zero(n, 1), sums_(n, n) / 2, -sums_.col(n).head(n), {}, false, {}};
}

std::optional<FullPass> LeastSquaresSums::pass_at(const Weights<double>& weights, double gap_share) const {
  const Index n = hessian_.size();
  const Vector<double> product = sums_.topLeftCorner(n, n).selfadjointView<Eigen::Lower>() * weights.col(0);
  const auto right = sums_.col(n).head(n);
  FullPass pass{weights, 0, product - right, {}, false, {}};
  pass.loss = (weights.col(0).dot(product - 2 * right) + sums_(n, n)) / 2;
  pass.loss += add_penalty(penalty_, weights, pass.gradient);
  const Vector<double> lengths = sums_.diagonal().cwiseSqrt();
  const double reach = lengths.head(n).dot(weights.col(0).cwiseAbs()) + lengths[n];
  if (!(error_ * reach * reach / 2 <= std::min(kVisibleError, gap_share) * pass.loss) ||
      !(distortion() <= kMostDistortion))
    return {};
  const double root = std::sqrt(safe_decrement(hessian_, pass.gradient)) +
                      error_ * reach * std::sqrt(static_cast<double>(n) * inverse_bound_);
  pass.gap = with_rounding(root * root / (2 * (1 - distortion())), pass.loss);
  return pass;
}

template LeastSquaresSums::LeastSquaresSums(const Problem<float>&);
template LeastSquaresSums::LeastSquaresSums(const Problem<double>&);

}  // namespace lipschitzlr::linear

#include "lipschitzlr/bound/matrix.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnreached = 1e-6;  // a share of g that B^-1 g does not explain, more than rounding

}  // namespace

CurvatureMatrix::CurvatureMatrix(Eigen::MatrixXd matrix, ThreadPool* pool) : unit_(std::move(matrix)) {
  if (unit_.rows() != unit_.cols()) {
    throw Error(Fault::usage, fmt::format("a curvature matrix is square, not {} x {}", unit_.rows(), unit_.cols()));
  }
  if (!unit_.allFinite() || (unit_.diagonal().array() < 0).any()) {
    throw Error(Fault::data,
                "the curvature matrix is not finite or has a negative diagonal; look for values in the "
                "data that are missing, not finite or far too large");
  }
  scale_ = unit_.diagonal().unaryExpr([](double x) { return x > 0 ? 1 / std::sqrt(x) : 0; });
  unit_ = scale_.asDiagonal() * unit_ * scale_.asDiagonal();
  cholesky_.emplace(unit_, pool);
  const double least = static_cast<double>(size()) * 8 * std::numeric_limits<double>::epsilon();
  const double reciprocal = cholesky_->reciprocal_condition();
  condition_ = reciprocal > least ? 1 / reciprocal : kInfinity;
  rank_ = size();
  if (std::isfinite(condition_)) return;
  orthogonal_.emplace(size(), size());
  orthogonal_->setThreshold(least);
  orthogonal_->compute(unit_);
  rank_ = orthogonal_->rank();
}

Eigen::MatrixXd CurvatureMatrix::step(const Eigen::MatrixXd& gradient) const {
  const Eigen::MatrixXd scaled = scale_.asDiagonal() * gradient;
  return scale_.asDiagonal() * (orthogonal_ ? Eigen::MatrixXd(orthogonal_->solve(scaled)) : cholesky_->solve(scaled));
}

double CurvatureMatrix::decrement(const Eigen::MatrixXd& gradient) const {
  const Eigen::MatrixXd found = step(gradient);
  if (orthogonal_) {
    // Where the scale is 0 the column is empty, and only a gradient of 0 is reached.
    const Eigen::MatrixXd scaled = scale_.asDiagonal() * gradient;
    const Eigen::VectorXd inverse = scale_.unaryExpr([](double s) { return s > 0 ? 1 / s : 0; });
    const double missed = (scaled - unit_ * (inverse.asDiagonal() * found)).norm();
    const double outside = (scale_.array() == 0).select(gradient.rowwise().norm().array(), 0.0).maxCoeff();
    if (missed > kUnreached * scaled.norm() || outside > 0) return kInfinity;
  }
  return std::max(0.0, gradient.cwiseProduct(found).sum());
}

double CurvatureMatrix::inverse_bound() const { return orthogonal_ ? kInfinity : cholesky_->inverse_trace(); }

}  // namespace lipschitzlr::bound

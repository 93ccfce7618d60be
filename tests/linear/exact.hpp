#pragma once
// The penalised loss of small problems and its minimum in long double, by plain loops: what certificates are held
// against. Nothing of the library computes here.

#include <Eigen/QR>
#include <cmath>

#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

// Gradient and Hessian are without l1, of all weights, stacked by outputs.
struct Exact {
  Real loss = 0;  // with the penalty, l1 too
  RealMatrix gradient, hessian;
};

// Of one row: its loss, and the derivatives of that by its scores.
struct ExactRow {
  Real loss;
  RealMatrix residual, curvature;
};

inline ExactRow exact_row(Family family, const Eigen::Matrix<Real, 1, Eigen::Dynamic>& z, Real y) {
  if (family == Family::linear) {
    return {(z[0] - y) * (z[0] - y) / 2, RealMatrix::Constant(1, 1, z[0] - y), RealMatrix::Ones(1, 1)};
  }
  if (family == Family::logistic) {
    const Real p = 1 / (1 + std::exp(-z[0]));
    return {std::max<Real>(z[0], 0) + std::log1p(std::exp(-std::abs(z[0]))) - y * z[0],
            RealMatrix::Constant(1, 1, p - y), RealMatrix::Constant(1, 1, p * (1 - p))};
  }
  RealMatrix p = (z.array() - z.maxCoeff()).exp().matrix().transpose();
  ExactRow row{z.maxCoeff() + std::log(p.sum()) - z[static_cast<Index>(y)], {}, {}};
  p /= p.sum();
  row.residual = p;
  row.residual(static_cast<Index>(y)) -= 1;
  row.curvature = RealMatrix(p.col(0).asDiagonal()) - p * p.transpose();
  return row;
}

template <class Scalar>
Exact evaluate_exactly(const Problem<Scalar>& problem, const RealMatrix& w) {
  const RealMatrix x = std::get<DenseMatrix<Scalar>>(problem.matrix()).template cast<Real>();
  const Index n = w.rows(), k = w.cols();
  const Penalty& penalty = problem.setup().penalty;
  Exact exact{0, RealMatrix::Zero(n * k, 1), RealMatrix::Zero(n * k, n * k)};
  Real total = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const Real weight = problem.row_weights().size() > 0 ? problem.row_weights()[i] : 1;
    const ExactRow row = exact_row(problem.setup().family, x.row(i) * w, problem.targets()[i]);
    total += weight;
    exact.loss += weight * row.loss;
    for (Index a = 0; a < k; ++a) {
      exact.gradient.middleRows(a * n, n) += weight * row.residual(a) * x.row(i).transpose();
      for (Index b = 0; b < k; ++b) {
        exact.hessian.block(a * n, b * n, n, n) += weight * row.curvature(a, b) * x.row(i).transpose() * x.row(i);
      }
    }
  }
  exact.loss /= total;
  exact.gradient /= total;
  exact.hessian /= total;
  for (Index a = 0; a < k; ++a) {
    for (Index j = 0; j < n - (penalty.spare_last ? 1 : 0); ++j) {
      exact.loss +=
          static_cast<Real>(penalty.l2) / 2 * w(j, a) * w(j, a) + static_cast<Real>(penalty.l1) * std::abs(w(j, a));
      exact.gradient(a * n + j) += static_cast<Real>(penalty.l2) * w(j, a);
      exact.hessian(a * n + j, a * n + j) += static_cast<Real>(penalty.l2);
    }
  }
  return exact;
}

// The lowest loss that Newton's method in long double finds: within the orthant of the weights where there is l1, a
// weight that would change its sign becoming 0.
template <class Scalar>
class ExactMinimum {
 public:
  explicit ExactMinimum(const Problem<Scalar>& problem) : problem_(problem), n_(problem.features()) {
    w_ = RealMatrix::Zero(n_, problem.setup().classes);
    now_ = evaluate_exactly(problem_, w_);
    for (int iteration = 0; iteration < 200; ++iteration) {
      const bool newton = move_by_newton();
      if (!move_by_model() && !newton) break;
    }
  }

  Real loss() const { return now_.loss; }
  // How far the conditions of an optimum are from holding: |g| <= l1 at 0, g = -l1 sign(w) elsewhere.
  Real violation() const {
    Real worst = 0;
    for (Index i = 0; i < w_.size(); ++i) worst = std::max(worst, std::abs(slope(i)));
    return worst;
  }

 private:
  Real l1_of(Index i) const {
    const Penalty& penalty = problem_.setup().penalty;
    return penalty.spare_last && i % n_ == n_ - 1 ? 0 : static_cast<Real>(penalty.l1);
  }
  static Real shrunk(Real value, Real by) { return std::copysign(std::max<Real>(std::abs(value) - by, 0), value); }
  // The derivative in the direction in which the loss falls; 0 where it falls in none.
  Real slope(Index i) const {
    const Real w = w_.reshaped()[i], g = now_.gradient(i), l1 = l1_of(i);
    return w != 0 ? g + std::copysign(l1, w) : shrunk(g, l1);
  }

  bool take(const RealMatrix& stacked) {
    const RealMatrix next = stacked.reshaped(w_.rows(), w_.cols());
    Exact there = evaluate_exactly(problem_, next);
    if (!(there.loss < now_.loss)) return false;
    w_ = next;
    now_ = std::move(there);
    return true;
  }

  bool move_by_newton() {
    std::vector<Index> moving;
    for (Index i = 0; i < w_.size(); ++i) {
      if (w_.reshaped()[i] != 0 || slope(i) != 0 || l1_of(i) == 0) moving.push_back(i);
    }
    if (moving.empty()) return false;
    RealMatrix slopes(static_cast<Index>(moving.size()), 1);
    for (std::size_t i = 0; i < moving.size(); ++i) slopes(static_cast<Index>(i)) = slope(moving[i]);
    const RealMatrix step = RealMatrix(now_.hessian(moving, moving)).completeOrthogonalDecomposition().solve(slopes);
    for (Real rate = 1; rate > 1e-6L; rate /= 2) {
      RealMatrix next = w_.reshaped();
      for (std::size_t i = 0; i < moving.size(); ++i) {
        Real& w = next(moving[i]);
        const Real sign = w != 0 ? w : -slopes(static_cast<Index>(i));
        w -= rate * step(static_cast<Index>(i));
        if (l1_of(moving[i]) > 0 && w * sign < 0) w = 0;
      }
      if (take(next)) return true;
    }
    return false;
  }

  // To the minimum of the quadratic model with l1, found one weight at a time.
  bool move_by_model() {
    const RealMatrix w = w_.reshaped();
    RealMatrix target = w, slopes = now_.gradient;
    for (int sweep = 0; sweep < 300; ++sweep) {
      for (Index i = 0; i < w.size(); ++i) {
        const Real curvature = now_.hessian(i, i);
        if (!(curvature > 0)) continue;
        const Real next = shrunk(target(i) - slopes(i) / curvature, l1_of(i) / curvature);
        slopes += (next - target(i)) * now_.hessian.col(i);
        target(i) = next;
      }
    }
    for (Real rate = 1; rate > 1e-9L; rate /= 2) {
      if (take(w + rate * (target - w))) return true;
    }
    return false;
  }

  const Problem<Scalar>& problem_;
  Index n_;
  RealMatrix w_;
  Exact now_;
};

}  // namespace lipschitzlr::linear

#include "linear/shifted_systems.hpp"

#include <cmath>
#include <limits>

#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kShiftedError = 1e-10;  // of a solution, relative
constexpr Index kFirstVectors = 32;      // for which memory is taken at once

// v without its part in the basis. What rounding leaves of it the second time is no longer seen.
void orthogonalise(const Eigen::Ref<const Eigen::MatrixXd>& basis, Vector<double>& v) {
  const double before = v.norm();
  v.noalias() -= basis * (basis.transpose() * v).eval();
  if (v.norm() < before / 2) v.noalias() -= basis * (basis.transpose() * v).eval();
}

}  // namespace

ShiftedSystems::ShiftedSystems(const DenseMatrix<double>& matrix, const Vector<double>& right, double least_shift)
    : norm_(right.norm()), basis_(right.size(), 0) {
  const Index n = right.size();
  if (!(norm_ > 0)) return;
  ThreadPool alone(1);
  const double size = matrix.trace(), rounding = 4 * std::numeric_limits<double>::epsilon() * size;
  std::vector<double> diagonal, beside;
  basis_.resize(n, std::min(n, kFirstVectors));
  basis_.col(0) = right / norm_;
  // Of T + lambda I for the least lambda: the last pivot, and the last entry of its solution with the right side e_1.
  double pivot = 0, last = 1;
  for (Index k = 0;; ++k) {
    Vector<double> next = scores(matrix, Weights<double>(basis_.col(k)), alone);
    diagonal.push_back(basis_.col(k).dot(next));
    next -= diagonal.back() * basis_.col(k);
    if (k > 0) next -= beside.back() * basis_.col(k - 1);
    orthogonalise(basis_.leftCols(k + 1), next);
    const double length = next.norm();
    last = k > 0 ? -last * beside.back() / pivot : last;
    pivot = diagonal.back() + least_shift - (k > 0 ? beside.back() * beside.back() / pivot : 0);
    // The residual is length |last / pivot|, its effect at most 1/lambda of it, a solution at least 1/(|C| + lambda).
    const double error = length * std::abs(last / pivot) / least_shift * (size + least_shift);
    if (k + 1 == n || length <= rounding || error <= kShiftedError) break;
    beside.push_back(length);
    if (k + 1 == basis_.cols()) basis_.conservativeResize(n, std::min(n, 2 * basis_.cols()));
    basis_.col(k + 1) = next / length;
  }
  diagonal_ = Eigen::Map<const Vector<double>>(diagonal.data(), static_cast<Index>(diagonal.size()));
  beside_ = Eigen::Map<const Vector<double>>(beside.data(), static_cast<Index>(beside.size()));
  basis_.conservativeResize(n, steps());
}

Eigen::MatrixXd ShiftedSystems::solve(const std::vector<double>& shifts) const {
  const auto count = static_cast<Index>(shifts.size());
  if (steps() == 0) return Eigen::MatrixXd::Zero(basis_.rows(), count);
  Eigen::MatrixXd solutions(steps(), count);
  Vector<double> pivots(steps());
  for (Index column = 0; column < count; ++column) {
    auto x = solutions.col(column);
    const double shift = shifts[static_cast<std::size_t>(column)];
    pivots[0] = diagonal_[0] + shift;
    x[0] = norm_;
    for (Index k = 1; k < steps(); ++k) {
      const double share = beside_[k - 1] / pivots[k - 1];
      pivots[k] = diagonal_[k] + shift - share * beside_[k - 1];
      x[k] = -share * x[k - 1];
    }
    x[steps() - 1] /= pivots[steps() - 1];
    for (Index k = steps() - 1; k-- > 0;) x[k] = (x[k] - beside_[k] * x[k + 1]) / pivots[k];
  }
  return basis_ * solutions;
}

}  // namespace lipschitzlr::linear

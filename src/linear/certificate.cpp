#include "linear/certificate.hpp"

#include <cmath>
#include <limits>

#include "lipschitzlr/base/collective.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// D t x_b for every row of this process, D the curvature of its loss in its scores, without its weight.
template <class Scalar>
DenseMatrix<double> unweighed_rows(const Problem<Scalar>& problem, const FullPass& pass, const Vector<double>& column,
                                   const Eigen::RowVectorXd& t) {
  if (problem.setup().family == Family::linear) return column * t;
  const auto p = pass.probabilities.array();
  if (problem.setup().family == Family::logistic) return (p.col(0) * (1 - p.col(0)) * column.array() * t[0]).matrix();
  const Vector<double> means = pass.probabilities * t.transpose();
  DenseMatrix<double> rows(pass.probabilities.rows(), t.size());
  for (Index i = 0; i < rows.rows(); ++i) {
    rows.row(i) = pass.probabilities.row(i).cwiseProduct((t.array() - means[i]).matrix()) * column[i];
  }
  return rows;
}

template <class Scalar>
DenseMatrix<double> curved_rows(const Problem<Scalar>& problem, const FullPass& pass, const Vector<double>& column,
                                const Eigen::RowVectorXd& t) {
  DenseMatrix<double> rows = unweighed_rows(problem, pass, column, t);
  if (problem.row_weights().size() > 0) rows = problem.row_weights().asDiagonal() * rows;
  return rows;
}

template <class Scalar>
Vector<double> last_column(const Problem<Scalar>& problem) {
  return std::visit(
      [](const auto& matrix) { return Vector<double>(matrix.col(matrix.cols() - 1).template cast<double>()); },
      problem.matrix());
}

// H_bb, outputs x outputs, of the loss alone: the mean of x_b^2 D.
template <class Scalar>
Eigen::MatrixXd last_curvature(const Problem<Scalar>& problem, const FullPass& pass, const Vector<double>& column) {
  Vector<double> squares = column.cwiseAbs2();
  if (problem.row_weights().size() > 0) squares = squares.cwiseProduct(problem.row_weights());
  const DenseMatrix<double>& p = pass.probabilities;
  Eigen::MatrixXd curvature = Eigen::MatrixXd::Zero(pass.gradient.cols(), pass.gradient.cols());
  if (problem.setup().family == Family::linear) {
    curvature(0, 0) = squares.sum();
  } else if (problem.setup().family == Family::logistic) {
    curvature(0, 0) = (squares.array() * p.col(0).array() * (1 - p.col(0).array())).sum();
  } else {
    for (Index i = 0; i < p.rows(); ++i) {
      for (Index c = 0; c < p.cols(); ++c) {
        const double share = squares[i] * p(i, c);
        curvature(c, c) += share;
        for (Index other = 0; other <= c; ++other) curvature(c, other) -= share * p(i, other);
      }
    }
    curvature.triangularView<Eigen::StrictlyUpper>() = curvature.transpose();
  }
  curvature /= problem.total_weight();
  all_reduce_sum(problem.communicator(), curvature);
  return curvature;
}

// Where the last row b of the weights has no penalty: takes H_b't from the gradient, so that its last row is 0, and
// returns g_b't, what that costs a bound; infinite where the condition fails.
template <class Scalar>
double free_last(const Problem<Scalar>& problem, const FullPass& pass, Weights<double>& gradient) {
  if (!problem.setup().penalty.spare_last) return 0;
  const Vector<double> column = last_column(problem);
  const Eigen::VectorXd wanted = gradient.bottomRows(1).transpose();
  // Adding the same number to all outputs changes nothing: with that direction filled the matrix has an inverse.
  Eigen::MatrixXd matrix = last_curvature(problem, pass, column);
  if (problem.setup().family == Family::softmax) matrix.array() += matrix.trace() / static_cast<double>(matrix.size());
  const bound::CurvatureMatrix curvature(matrix);
  const double cost = safe_decrement(curvature, wanted);
  if (!std::isfinite(cost)) return kNoBound;
  const Eigen::RowVectorXd t = curvature.step(wanted).transpose();
  const double reach =
      problem.setup().family == Family::softmax ? t.maxCoeff() - t.minCoeff() : t.cwiseAbs().maxCoeff();
  const double widest = all_reduce_max(problem.communicator(), column.size() > 0 ? column.cwiseAbs().maxCoeff() : 0);
  if (problem.setup().family != Family::linear && !(reach * widest <= 1)) return kNoBound;
  gradient -= transposed_product(problem, curved_rows(problem, pass, column, t)) / problem.total_weight();
  return cost;
}

}  // namespace

double safe_decrement(const bound::CurvatureMatrix& matrix, const Eigen::MatrixXd& gradient) {
  const double units = 8 * static_cast<double>(matrix.size()) * std::numeric_limits<double>::epsilon();
  return matrix.decrement(gradient) * (1 + 2 * units * std::min(matrix.condition(), 1 / units));
}

double with_rounding(double gap, double loss) {
  return gap + 16 * std::numeric_limits<double>::epsilon() * std::abs(loss);
}

double largest_curvature(Family family) {
  return family == Family::linear     ? bound::kLeastSquaresCurvature
         : family == Family::logistic ? bound::kLogisticCurvature
                                      : bound::kSoftmaxCurvature;
}

template <class Scalar>
double duality_gap(const Problem<Scalar>& problem, const FullPass& pass) {
  const Index n = problem.features();
  const Penalty& penalty = problem.setup().penalty;
  if (penalty.empty()) return kNoBound;
  Weights<double> gradient = pass.gradient;
  double gap = free_last(problem, pass, gradient);
  const Index kept = penalty.spare_last ? n - 1 : n;
  if (kept > 0) {
    gap += penalty.tikhonov.empty()
               ? gradient.topRows(kept).squaredNorm() / (2 * penalty.l2)
               : safe_decrement(bound::CurvatureMatrix(penalty_curvature(penalty, n).topLeftCorner(kept, kept)),
                                gradient.topRows(kept)) /
                     2;
  }
  return with_rounding(gap, pass.loss);
}

double sparse_gap(double l1, double l2, double loss, double cost, const Eigen::ArrayXXd& c, const Eigen::ArrayXXd& w) {
  const double size = l1 * w.abs().sum(), square = l2 / 2 * w.square().sum(), product = (c * w).sum();
  const double largest = c.size() > 0 ? c.abs().maxCoeff() : 0;
  const double share = largest > l1 ? l1 / largest : 1;
  double gap = share * cost + (1 - share) * loss + size + square + share * product;
  if (l2 > 0) {
    const double excess = (c.abs() - l1).max(0).square().sum() / (2 * l2);
    gap = std::min(gap, cost + size + square + product + excess);
  }
  return with_rounding(std::max(gap, 0.0), loss + square + size);
}

template <class Scalar>
double sparse_duality_gap(const Problem<Scalar>& problem, const FullPass& pass) {
  const Penalty& penalty = problem.setup().penalty;
  const Index kept = problem.features() - (penalty.spare_last ? 1 : 0);
  Weights<double> gradient = pass.gradient;
  const double cost = free_last(problem, pass, gradient);
  const Eigen::ArrayXXd w = pass.weights.topRows(kept).array();
  const Eigen::ArrayXXd c = gradient.topRows(kept).array() - penalty.l2 * w;
  return sparse_gap(penalty.l1, penalty.l2, pass.loss - penalty.l2 / 2 * w.square().sum(), cost, c, w);
}

template <class Scalar>
double curvature_gap(const Problem<Scalar>& problem, const FullPass& pass, const bound::CurvatureMatrix& hessian) {
  const Index n = problem.features();
  const double square = safe_decrement(hessian, reduced(pass.gradient, output_basis(pass.gradient.cols())));
  // What all outputs share costs its penalty and nothing else.
  double shared = 0;
  if (problem.setup().family == Family::softmax) {
    const Weights<double> mean = pass.weights.rowwise().mean();
    Weights<double> unused = Weights<double>::Zero(n, 1);
    shared = static_cast<double>(pass.weights.cols()) * add_penalty(problem.setup().penalty, mean, unused);
  }
  if (problem.setup().family == Family::linear || !std::isfinite(square)) return with_rounding(square / 2, pass.loss);
  double reach = 0;
  for (Index first = 0; first < hessian.size(); first += n) {
    reach = std::max(reach, largest_scaled_square(problem, Vector<double>(hessian.scale().segment(first, n))));
  }
  if (problem.setup().family == Family::softmax) reach *= 2;  // the largest difference of two scores
  const double largest = std::sqrt(reach * hessian.inverse_bound()), x = largest * std::sqrt(square);
  if (!(x < 1)) return kNoBound;
  // The series, cut with room for the rest, where the closed form would lose its digits.
  const double gap =
      x < 0.01 ? square * (0.5 + x / 6 + x * x / 8) : ((1 - x) * std::log1p(-x) + x) / (largest * largest);
  return with_rounding(gap + shared, pass.loss);
}

Eigen::MatrixXd output_basis(Index outputs) {
  if (outputs == 1) return Eigen::MatrixXd::Ones(1, 1);
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(outputs, outputs - 1);
  for (Index c = 1; c < outputs; ++c) {
    const auto size = static_cast<double>(c);
    basis.col(c - 1).head(c).setConstant(1 / std::sqrt(size * (size + 1)));
    basis(c, c - 1) = -std::sqrt(size / (size + 1));
  }
  return basis;
}

Eigen::VectorXd reduced(const Weights<double>& weights, const Eigen::MatrixXd& basis) {
  const Eigen::MatrixXd columns = weights * basis;
  return columns.reshaped();
}

Weights<double> expanded(const Eigen::VectorXd& stacked, const Eigen::MatrixXd& basis) {
  return stacked.reshaped(stacked.size() / basis.cols(), basis.cols()) * basis.transpose();
}

template double sparse_duality_gap(const Problem<float>&, const FullPass&);
template double sparse_duality_gap(const Problem<double>&, const FullPass&);
template double duality_gap(const Problem<float>&, const FullPass&);
template double duality_gap(const Problem<double>&, const FullPass&);
template double curvature_gap(const Problem<float>&, const FullPass&, const bound::CurvatureMatrix&);
template double curvature_gap(const Problem<double>&, const FullPass&, const bound::CurvatureMatrix&);

}  // namespace lipschitzlr::linear

#include "linear/row_sample.hpp"

#include <cmath>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "lipschitzlr/linear/lbfgs.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kRowsPerWeight = 20;
constexpr Index kLeastSample = 1000;
constexpr double kWorthwhile = 3;    // times as many rows as the sample
constexpr double kSampleGap = 1e-2;  // the sample's own optimum is further from that of all rows
constexpr std::int64_t kSampleSteps = 30;
constexpr double kSampleFill = 1e-8;      // added to a unit diagonal: collinear columns must not stop the factorisation
constexpr double kLeastCurvature = 1e-3;  // of a row: far from the optimum all of them may be almost 0

Index sample_rows(Index features) { return std::max(kLeastSample, kRowsPerWeight * features); }

}  // namespace

bool sample_pays(const Shape& shape) {
  return static_cast<double>(shape.rows) >= kWorthwhile * static_cast<double>(sample_rows(shape.features));
}

template <class Scalar>
RowSample<Scalar>::RowSample(const Problem<Scalar>& problem)
    : problem_(problem),
      sample_(problem.sample(std::max<Index>(1, problem.rows() / sample_rows(problem.features())))),
      column_squares_(column_squares(problem) / problem.total_weight()) {
  Penalty penalty = problem.setup().penalty;
  // A weak penalty has to hold a sample back more than all rows: up to what it is to them.
  const double total = sample_->total_weight();
  penalty.l2 = std::max(penalty.l2, std::min(penalty.l2 * problem.total_weight() / total, 1 / total));
  penalty.tikhonov = {};
  sample_->set_penalty(penalty);
}

template <class Scalar>
Weights<Scalar> RowSample<Scalar>::optimum() const {
  SolverOptions options{.coordinates = Coordinates::matrix, .epochs = kSampleSteps, .gap_tolerance = kSampleGap};
  return solve_lbfgs(*sample_, options, State<Scalar>{}).state.weights;
}

template <class Scalar>
bound::CurvatureMatrix RowSample<Scalar>::hessian(const Weights<double>& weights) const {
  const FullPass pass = full_pass(*sample_, weights);
  Vector<double> d = Vector<double>::Ones(sample_->targets().size());
  if (pass.probabilities.cols() > 0) {
    const auto p = pass.probabilities.col(0).array();
    d = (p * (1 - p)).max(kLeastCurvature).matrix();
  }
  if (sample_->row_weights().size() > 0) d = d.cwiseProduct(sample_->row_weights());
  Eigen::MatrixXd matrix = std::visit(
      [&](const auto& rows) { return gram(rows, d, sample_->pool(), sample_->communicator()); }, sample_->matrix());
  matrix /= sample_->total_weight();
  const double mean = all_reduce_sum(sample_->communicator(), d.sum()) / sample_->total_weight();
  for (Index j = 0; j < matrix.rows(); ++j) {
    const double likely = mean * column_squares_[j];
    if (matrix(j, j) < likely / 2) matrix(j, j) = likely;
  }
  add_curvature(problem_.setup().penalty, matrix);
  matrix.diagonal() *= 1 + kSampleFill;
  return bound::CurvatureMatrix(std::move(matrix), &sample_->pool());
}

template class RowSample<float>;
template class RowSample<double>;

}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/problem.hpp"

#include <cmath>
#include <utility>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/gradient.hpp"
#include "lipschitzlr/bound/loss.hpp"

namespace lipschitzlr::linear {
namespace {

template <class Scalar>
DenseMatrix<Scalar> take(const DenseMatrix<Scalar>& matrix, std::span<const Index> rows) {
  DenseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  for (Index i = 0; i < taken.rows(); ++i) taken.row(i) = matrix.row(rows[static_cast<std::size_t>(i)]);
  return taken;
}

template <class Scalar>
SparseMatrix<Scalar> take(const SparseMatrix<Scalar>& matrix, std::span<const Index> rows) {
  SparseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  for (Index i = 0; i < taken.rows(); ++i) {
    taken.startVec(i);
    for (typename SparseMatrix<Scalar>::InnerIterator cell(matrix, rows[static_cast<std::size_t>(i)]); cell; ++cell) {
      taken.insertBack(i, cell.col()) = cell.value();
    }
  }
  taken.finalize();
  return taken;
}

template <class Value, class Measure>
const Value& once(std::optional<Value>& slot, Measure&& measure) {
  if (!slot) slot = measure();
  return *slot;
}

}  // namespace

double default_weight_bound(Family family, Index classes, const Penalty& penalty, double raw_feature_guess) {
  if (family == Family::linear) return raw_feature_guess;
  if (penalty.l2 > 0) return std::sqrt(2 * std::log(std::max<double>(2, static_cast<double>(classes))) / penalty.l2);
  return penalty.tikhonov.empty() ? 0 : raw_feature_guess;
}

template <class Scalar>
Problem<Scalar>::Problem(Matrix features, Vector<Scalar> targets, ProblemSetup setup, ThreadPool& pool,
                         Communicator* communicator)
    : features_(std::move(features)),
      targets_(std::move(targets)),
      setup_(std::move(setup)),
      pool_(pool),
      share_(std::visit([](const auto& matrix) { return matrix.rows(); }, features_), communicator) {
  if (share_.here() == 0 && share_.total() > 0) return;
  std::visit([&](const auto& matrix) { objective_.emplace(setup_.family, matrix, targets_, setup_.classes, pool); },
             features_);
}

template <class Scalar>
Index Problem<Scalar>::features() const {
  return std::visit([](const auto& matrix) { return matrix.cols(); }, features_);
}

template <class Scalar>
double Problem<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient) const {
  double loss = 0;
  gradient.resize(weights.rows(), weights.cols());
  if (objective_) loss = objective_->evaluate(weights, gradient);
  loss = share_.combine(loss, gradient, share_.here(), share_.total());
  return loss + add_penalty(setup_.penalty, weights, gradient);
}

template <class Scalar>
double Problem<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient,
                                 std::span<const Index> rows) const {
  const std::span<const Index> here = share_.here_of(rows);
  double loss = 0;
  gradient.resize(weights.rows(), weights.cols());
  if (!here.empty() || share_.communicator() == nullptr) loss = objective_->evaluate(weights, gradient, here);
  loss = share_.combine(loss, gradient, static_cast<Index>(here.size()), static_cast<Index>(rows.size()));
  return loss + add_penalty(setup_.penalty, weights, gradient);
}

template <class Scalar>
DenseMatrix<double> Problem<Scalar>::scores(const Weights<Scalar>& weights) const {
  DenseMatrix<double> own = std::visit(
      [&](const auto& matrix) { return linear::scores(matrix, weights, pool_).template cast<double>().eval(); },
      features_);
  if (communicator() == nullptr) return own;
  const std::vector<double> all = all_gather(communicator(), {own.data(), own.data() + own.size()});
  return Eigen::Map<const DenseMatrix<double>>(all.data(), rows(), weights.cols());
}

template <class Scalar>
bool Problem<Scalar>::has_constant(ConstantKind kind) const {
  const bound::Tikhonov& tikhonov = setup_.penalty.tikhonov;
  if (tikhonov.empty() || kind == ConstantKind::gradient) return true;
  try {
    bound::with_tikhonov(kind, {}, tikhonov, features(), setup_.weight_bound);
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <class Scalar>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound) const {
  return std::visit(
      [&](const auto& matrix) {
        return measure(kind, weight_bound, Rows{matrix, targets_, rows()}, norms_);
      },
      features_);
}

template <class Scalar>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound, std::span<const Index> rows) const {
  const std::span<const Index> here = share_.here_of(rows);
  Vector<Scalar> targets(static_cast<Index>(here.size()));
  for (Index i = 0; i < targets.size(); ++i) targets[i] = targets_[here[static_cast<std::size_t>(i)]];
  Norms norms;
  return std::visit(
      [&](const auto& matrix) {
        const auto taken = take(matrix, here);
        return measure(kind, weight_bound, Rows{taken, targets, static_cast<Index>(rows.size())}, norms);
      },
      features_);
}

template <class Scalar>
template <class AnyMatrix>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound, const Rows<AnyMatrix>& rows,
                                  Norms& norms) const {
  const Penalty& penalty = setup_.penalty;
  const bool smooth = kind == ConstantKind::gradient;
  Measured measured;
  measured.constant = smooth ? smoothness(rows, norms) : data_constant(kind, weight_bound, rows, norms);
  measured.data_part = measured.constant.value;
  if (penalty.l2 != 0) {
    measured.constant = smooth ? bound::with_l2_smoothness(std::move(measured.constant), penalty.l2)
                               : bound::with_l2(std::move(measured.constant), penalty.l2, weight_bound);
  }
  if (!penalty.tikhonov.empty()) {
    measured.constant =
        smooth ? bound::with_tikhonov_smoothness(std::move(measured.constant), penalty.tikhonov)
               : bound::with_tikhonov(kind, std::move(measured.constant), penalty.tikhonov, features(), weight_bound);
  }
  measured.feature_norm = once(norms.frobenius, [&] { return bound::frobenius_norm(rows.features, communicator()); });
  measured.feature_square_norm =
      once(norms.square_frobenius, [&] { return bound::square_frobenius_norm(rows.features, communicator()); });
  return measured;
}

template <class Scalar>
template <class AnyMatrix>
bound::Constant Problem<Scalar>::smoothness(const Rows<AnyMatrix>& rows, Norms& norms) const {
  bound::SpectralOptions spectral;
  spectral.pool = &pool_;
  spectral.communicator = communicator();
  // The upper end of what the iteration knows: a beta that is too small would void the guarantee.
  const double sigma = once(norms.spectral, [&] { return bound::spectral_norm(rows.features, spectral); }).upper();
  switch (setup_.family) {
    case Family::linear:
      return bound::least_squares_smoothness(sigma, rows.total);
    case Family::logistic:
      return bound::logistic_smoothness(sigma, rows.total);
    case Family::softmax:
      return bound::softmax_smoothness(sigma, rows.total);
  }
  return {};
}

template <class Scalar>
template <class AnyMatrix>
bound::Constant Problem<Scalar>::data_constant(ConstantKind kind, double weight_bound, const Rows<AnyMatrix>& rows,
                                               Norms& norms) const {
  const Index m = rows.total;
  if (setup_.family == Family::linear) {
    const double gram = once(norms.gram, [&] { return bound::gram_frobenius_norm(rows.features, communicator()); });
    const double product = once(
        norms.target_product, [&] { return bound::target_product_norm(rows.features, rows.targets, communicator()); });
    return bound::linear_regression(kind, weight_bound, gram, product, m);
  }
  const double norm = once(norms.frobenius, [&] { return bound::frobenius_norm(rows.features, communicator()); });
  const double row_sum = once(norms.row_sum, [&] { return bound::row_norm_sum(rows.features, communicator()); });
  return setup_.family == Family::logistic ? bound::logistic_regression(kind, norm, row_sum, m)
                                           : bound::softmax_regression(kind, norm, row_sum, m, setup_.classes);
}

template class Problem<float>;
template class Problem<double>;

}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/problem.hpp"

#include <cmath>
#include <utility>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/gradient.hpp"
#include "lipschitzlr/bound/loss.hpp"

namespace lipschitzlr::linear {
namespace {

bound::Variant variant_of(ConstantKind kind) {
  switch (kind) {
    case ConstantKind::coded:
      return bound::Variant::coded;
    case ConstantKind::certified:
      return bound::Variant::certified;
    default:
      return bound::Variant::published;
  }
}

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

template <class Scalar>
Objective<Scalar> make_objective(const typename Problem<Scalar>::Matrix& features, const Vector<Scalar>& targets,
                                 const ProblemSetup& setup, ThreadPool& pool) {
  return std::visit(
      [&](const auto& matrix) { return Objective<Scalar>(setup.family, matrix, targets, setup.classes, pool); },
      features);
}

}  // namespace

std::string to_string(ConstantKind kind) {
  switch (kind) {
    case ConstantKind::published:
      return "published";
    case ConstantKind::coded:
      return "coded";
    case ConstantKind::certified:
      return "certified";
    case ConstantKind::gradient:
      return "gradient";
  }
  return {};
}

std::optional<ConstantKind> constant_kind_from(const std::string& name) {
  for (ConstantKind kind : kConstantKinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

double default_weight_bound(Family family, Index classes, const Penalty& penalty, double raw_feature_guess) {
  if (family == Family::linear) return raw_feature_guess;
  if (penalty.l2 > 0) return std::sqrt(2 * std::log(std::max<double>(2, static_cast<double>(classes))) / penalty.l2);
  return penalty.tikhonov.empty() ? 0 : raw_feature_guess;
}

template <class Scalar>
Problem<Scalar>::Problem(Matrix features, Vector<Scalar> targets, ProblemSetup setup, ThreadPool& pool)
    : features_(std::move(features)),
      targets_(std::move(targets)),
      setup_(std::move(setup)),
      pool_(pool),
      objective_(make_objective<Scalar>(features_, targets_, setup_, pool)) {}

template <class Scalar>
double Problem<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient) const {
  const double loss = objective_.evaluate(weights, gradient);
  return loss + add_penalty(setup_.penalty, weights, gradient);
}

template <class Scalar>
double Problem<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient,
                                 std::span<const Index> rows) const {
  const double loss = objective_.evaluate(weights, gradient, rows);
  return loss + add_penalty(setup_.penalty, weights, gradient);
}

template <class Scalar>
bool Problem<Scalar>::has_constant(ConstantKind kind) const {
  const bound::Tikhonov& tikhonov = setup_.penalty.tikhonov;
  if (tikhonov.empty() || kind == ConstantKind::gradient) return true;
  try {
    bound::with_tikhonov(variant_of(kind), {}, tikhonov, objective_.features(), setup_.weight_bound);
    return true;
  } catch (const Error&) {
    return false;
  }
}

template <class Scalar>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound) const {
  return std::visit([&](const auto& matrix) { return measure(kind, weight_bound, matrix, targets_, norms_); },
                    features_);
}

template <class Scalar>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound, std::span<const Index> rows) const {
  Vector<Scalar> targets(static_cast<Index>(rows.size()));
  for (Index i = 0; i < targets.size(); ++i) targets[i] = targets_[rows[static_cast<std::size_t>(i)]];
  Norms norms;
  return std::visit([&](const auto& matrix) { return measure(kind, weight_bound, take(matrix, rows), targets, norms); },
                    features_);
}

template <class Scalar>
template <class AnyMatrix>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound, const AnyMatrix& features,
                                  const Vector<Scalar>& targets, Norms& norms) const {
  const Penalty& penalty = setup_.penalty;
  const bool smooth = kind == ConstantKind::gradient;
  Measured measured;
  measured.constant =
      smooth ? smoothness(features, norms) : data_constant(kind, weight_bound, features, targets, norms);
  measured.data_part = measured.constant.value;
  if (penalty.l2 != 0) {
    measured.constant = smooth ? bound::with_l2_smoothness(std::move(measured.constant), penalty.l2)
                               : bound::with_l2(std::move(measured.constant), penalty.l2, weight_bound);
  }
  if (!penalty.tikhonov.empty()) {
    measured.constant = smooth ? bound::with_tikhonov_smoothness(std::move(measured.constant), penalty.tikhonov)
                               : bound::with_tikhonov(variant_of(kind), std::move(measured.constant), penalty.tikhonov,
                                                      features.cols(), weight_bound);
  }
  measured.feature_norm = once(norms.frobenius, [&] { return bound::frobenius_norm(features); });
  measured.feature_square_norm = once(norms.square_frobenius, [&] { return bound::square_frobenius_norm(features); });
  return measured;
}

template <class Scalar>
template <class AnyMatrix>
bound::Constant Problem<Scalar>::smoothness(const AnyMatrix& features, Norms& norms) const {
  bound::SpectralOptions spectral;
  spectral.pool = &pool_;
  // The upper end of what the iteration knows: a beta that is too small would void the guarantee.
  const double sigma = once(norms.spectral, [&] { return bound::spectral_norm(features, spectral); }).upper();
  switch (setup_.family) {
    case Family::linear:
      return bound::least_squares_smoothness(sigma, features.rows());
    case Family::logistic:
      return bound::logistic_smoothness(sigma, features.rows());
    case Family::softmax:
      return bound::softmax_smoothness(sigma, features.rows());
  }
  return {};
}

template <class Scalar>
template <class AnyMatrix>
bound::Constant Problem<Scalar>::data_constant(ConstantKind kind, double weight_bound, const AnyMatrix& features,
                                               const Vector<Scalar>& targets, Norms& norms) const {
  const Index m = features.rows();
  const bound::Variant variant = variant_of(kind);
  if (setup_.family == Family::linear) {
    const double gram = once(norms.gram, [&] { return bound::gram_frobenius_norm(features); });
    const double product = once(norms.target_product, [&] { return bound::target_product_norm(features, targets); });
    return bound::linear_regression(variant, weight_bound, gram, product, m);
  }
  const double norm = once(norms.frobenius, [&] { return bound::frobenius_norm(features); });
  const double row_sum = once(norms.row_sum, [&] { return bound::row_norm_sum(features); });
  return setup_.family == Family::logistic ? bound::logistic_regression(variant, norm, row_sum, m)
                                           : bound::softmax_regression(variant, norm, row_sum, m, setup_.classes);
}

template class Problem<float>;
template class Problem<double>;

}  // namespace lipschitzlr::linear

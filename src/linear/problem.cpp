#include "lipschitzlr/linear/problem.hpp"

#include <cmath>
#include <utility>

#include "linear/row_blocks.hpp"
#include "linear/take_rows.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/gradient.hpp"
#include "lipschitzlr/bound/loss.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kMostSample = 8 << 20;  // bytes of streamed rows that a sample holds in memory

template <class Scalar>
void scale_rows(DenseMatrix<Scalar>& matrix, const Vector<double>& factors) {
  matrix = factors.cast<Scalar>().asDiagonal() * matrix;
}

template <class Scalar>
void scale_rows(SparseMatrix<Scalar>& matrix, const Vector<double>& factors) {
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (typename SparseMatrix<Scalar>::InnerIterator cell(matrix, i); cell; ++cell) {
      cell.valueRef() *= static_cast<Scalar>(factors[i]);
    }
  }
}

template <class Scalar>
void scale_rows(StreamedRows<Scalar>& matrix, const Vector<double>& factors) {
  const auto scaled = [given = matrix, factors](const Index* numbers, Index first, Index count, Scalar* to) {
    given.fill(numbers, first, count, to);
    Eigen::Map<DenseMatrix<Scalar>> rows(to, count, given.cols());
    for (Index i = 0; i < count; ++i) {
      rows.row(i) *= static_cast<Scalar>(factors[numbers == nullptr ? first + i : numbers[i]]);
    }
  };
  matrix = StreamedRows<Scalar>(matrix.rows(), matrix.cols(), scaled).with_obstacle(matrix.obstacle());
}

// As a move, but Eigen would copy a sparse matrix that is moved.
template <class Matrix>
Matrix taken(Matrix& features) {
  Matrix own;
  std::visit([&](auto& matrix) { own.template emplace<std::decay_t<decltype(matrix)>>().swap(matrix); }, features);
  return own;
}

// Some rows as a matrix of a problem; in memory unless they take much of it.
template <class Scalar, class Matrix>
typename Problem<Scalar>::Matrix rows_for(const Matrix& matrix, std::span<const Index> rows, ThreadPool& pool) {
  if constexpr (std::is_same_v<Matrix, StreamedRows<Scalar>>) {
    const double bytes = static_cast<double>(rows.size()) * static_cast<double>(matrix.cols()) * sizeof(Scalar);
    if (bytes > kMostSample) return matrix.take(rows);
  }
  return take_rows(matrix, rows, pool);
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
                         Communicator* communicator, const Vector<double>& row_weights)
    : features_(taken(features)),
      targets_(std::move(targets)),
      row_weights_(row_weights.cast<Scalar>().template cast<double>()),
      setup_(std::move(setup)),
      pool_(pool),
      share_(std::visit([](const auto& matrix) { return matrix.rows(); }, features_), communicator) {
  weighted_ = all_reduce_max(communicator, row_weights_.size() > 0 ? 1 : 0) > 0;
  weight_here_ = weighted_ ? row_weights_.sum() : static_cast<double>(share_.here());
  total_weight_ = weighted_ ? all_reduce_sum(communicator, weight_here_) : static_cast<double>(share_.total());
  if (share_.here() > 0 || share_.total() == 0) {
    std::visit(
        [&](const auto& matrix) {
          objective_.emplace(setup_.family, matrix, targets_, setup_.classes, pool, row_weights_);
        },
        features_);
    if (setup_.clipped) objective_->clip();
  }
  if (weighted_ && !(total_weight_ > 0)) throw Error(Fault::data, "the weights of the rows are all 0");
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
  loss = share_.combine(loss, gradient, weight_here_, total_weight_);
  return loss + add_penalty(setup_.penalty, weights, gradient);
}

template <class Scalar>
double Problem<Scalar>::evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient,
                                 std::span<const Index> rows) const {
  const std::span<const Index> here = share_.here_of(rows);
  double loss = 0;
  gradient.resize(weights.rows(), weights.cols());
  if (!here.empty() || share_.communicator() == nullptr) loss = objective_->evaluate(weights, gradient, here);
  loss = share_.combine(loss, gradient, weight_of(here), total_weight(rows, here));
  return loss + add_penalty(setup_.penalty, weights, gradient);
}

template <class Scalar>
double Problem<Scalar>::weight_of(std::span<const Index> here) const {
  if (row_weights_.size() == 0) return static_cast<double>(here.size());
  double sum = 0;
  for (const Index row : here) sum += row_weights_[row];
  return sum;
}

template <class Scalar>
double Problem<Scalar>::total_weight(std::span<const Index> rows, std::span<const Index> here) const {
  return weighted_ ? all_reduce_sum(communicator(), weight_of(here)) : static_cast<double>(rows.size());
}

template <class Scalar>
std::unique_ptr<Problem<Scalar>> Problem<Scalar>::sample(Index one_in) const {
  std::vector<Index> rows;
  for (Index row = 0; row < share_.here(); ++row) {
    // Scattered by a hash: tables are often sorted, or repeat themselves every so many rows.
    const std::uint64_t hash = static_cast<std::uint64_t>(share_.first() + row) * 0x9e3779b97f4a7c15;
    if ((hash >> 32) % static_cast<std::uint64_t>(one_in) == 0) rows.push_back(row);
  }
  const Vector<double> row_weights = row_weights_.size() == 0 ? row_weights_ : Vector<double>(row_weights_(rows));
  return std::make_unique<Problem>(
      std::visit([&](const auto& matrix) { return rows_for<Scalar>(matrix, std::span<const Index>(rows), pool_); },
                 features_),
      Vector<Scalar>(targets_(rows)), setup_, pool_, communicator(), row_weights);
}

template <class Scalar>
DenseMatrix<double> Problem<Scalar>::own_scores(const Weights<Scalar>& weights) const {
  return std::visit(
      [&](const auto& matrix) { return linear::scores(matrix, weights, pool_).template cast<double>().eval(); },
      features_);
}

template <class Scalar>
DenseMatrix<double> Problem<Scalar>::scores(const Weights<Scalar>& weights) const {
  DenseMatrix<double> own = own_scores(weights);
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
        return measure(kind, weight_bound,
                       Rows<std::decay_t<decltype(matrix)>>{matrix, targets_, row_weights_, total_weight_}, norms_);
      },
      features_);
}

template <class Scalar>
Measured Problem<Scalar>::measure(ConstantKind kind, double weight_bound, std::span<const Index> rows) const {
  const std::span<const Index> here = share_.here_of(rows);
  Vector<Scalar> targets(static_cast<Index>(here.size()));
  for (Index i = 0; i < targets.size(); ++i) targets[i] = targets_[here[static_cast<std::size_t>(i)]];
  Vector<double> weights(row_weights_.size() > 0 ? targets.size() : 0);
  for (Index i = 0; i < weights.size(); ++i) weights[i] = row_weights_[here[static_cast<std::size_t>(i)]];
  const double total = total_weight(rows, here);
  Norms norms;
  return std::visit(
      [&](const auto& matrix) {
        const auto taken = take_rows(matrix, here, pool_);
        return measure(kind, weight_bound, Rows<std::decay_t<decltype(taken)>>{taken, targets, weights, total}, norms);
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
  measured.features.frobenius = frobenius(rows, norms);
  measured.features.square_frobenius = once(norms.square_frobenius, [&] {
    return rows.weighed(0.25, [&](const auto& x) { return bound::square_frobenius_norm(x, communicator()); });
  });
  if (penalty.l2 == 0) return measured;
  measured.features.sum = once(
      norms.sum, [&] { return rows.weighed(1, [&](const auto& x) { return bound::entry_sum(x, communicator()); }); });
  measured.features.cube_sum = once(norms.cube_sum, [&] {
    return rows.weighed(1.0 / 3, [&](const auto& x) { return bound::entry_cube_sum(x, communicator()); });
  });
  measured.features.count = rows.total * static_cast<double>(features());
  return measured;
}

template <class Scalar>
template <class AnyMatrix>
template <class Norm>
double Problem<Scalar>::Rows<AnyMatrix>::weighed(double power, const Norm& norm) const {
  if (weights.size() == 0) return norm(features);
  AnyMatrix scaled = features;
  scale_rows(scaled, Vector<double>(weights.array().pow(power)));
  return norm(scaled);
}

template <class Scalar>
template <class AnyMatrix>
double Problem<Scalar>::frobenius(const Rows<AnyMatrix>& rows, Norms& norms) const {
  return once(norms.frobenius, [&] {
    return rows.weighed(0.5, [&](const auto& x) { return bound::frobenius_norm(x, communicator()); });
  });
}

template <class Scalar>
template <class AnyMatrix>
bound::Constant Problem<Scalar>::smoothness(const Rows<AnyMatrix>& rows, Norms& norms) const {
  bound::SpectralOptions spectral;
  spectral.pool = &pool_;
  spectral.communicator = communicator();
  // The upper end of what the iteration knows: a beta that is too small would void the guarantee.
  const double sigma = once(norms.spectral, [&] {
    return rows.weighed(0.5, [&](const auto& x) { return bound::spectral_norm(x, spectral).upper(); });
  });
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
  const double m = rows.total;
  if (setup_.family == Family::linear) {
    const double gram = once(norms.gram, [&] {
      return rows.weighed(0.5, [&](const auto& x) { return bound::gram_frobenius_norm(x, communicator()); });
    });
    const double product = once(norms.target_product, [&] {
      return rows.weighed(1,
                          [&](const auto& x) { return bound::target_product_norm(x, rows.targets, communicator()); });
    });
    return bound::linear_regression(kind, weight_bound, gram, product, m);
  }
  const double norm = frobenius(rows, norms);
  const double row_sum = once(norms.row_sum, [&] {
    return rows.weighed(1, [&](const auto& x) { return bound::row_norm_sum(x, communicator()); });
  });
  return setup_.family == Family::logistic ? bound::logistic_regression(kind, norm, row_sum, m)
                                           : bound::softmax_regression(kind, norm, row_sum, m, setup_.classes);
}

template class Problem<float>;
template class Problem<double>;

}  // namespace lipschitzlr::linear

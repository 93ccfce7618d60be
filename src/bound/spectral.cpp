#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <functional>
#include <limits>

#include "bound/rows.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

using Product = std::function<void(const Vector<double>&, Vector<double>&)>;

// sum += factor X'(X v) over the given rows. A panel of rows is read from memory once and used twice.
template <class Scalar>
DenseView<Scalar> rows_at(const DenseMatrix<Scalar>& matrix, Index first, Index count, DenseMatrix<Scalar>&) {
  return {matrix.data() + first * matrix.cols(), count, matrix.cols()};
}

template <class Scalar>
DenseView<Scalar> rows_at(const StreamedRows<Scalar>& matrix, Index first, Index count, DenseMatrix<Scalar>& made) {
  made.resize(count, matrix.cols());
  matrix.fill(first, count, made.data());
  return {made.data(), count, matrix.cols()};
}

template <class Matrix>
void add_gram_product(const Matrix& matrix, Index begin, Index end, const Vector<double>& v, double factor,
                      Eigen::Ref<Vector<double>> sum) {
  using Scalar = typename Matrix::Scalar;
  const Index height = std::min(std::max<Index>(16384 / matrix.cols(), 1), end - begin);
  DenseMatrix<Scalar> made;
  DenseMatrix<double> panel;
  Vector<double> scores;
  for (Index row = begin; row < end; row += height) {
    const DenseView<Scalar> rows = rows_at(matrix, row, std::min(height, end - row), made);
    const auto add = [&](const auto& values) {
      scores.noalias() = values * v;
      scores *= factor;
      sum.noalias() += values.transpose() * scores;
    };
    if constexpr (std::is_same_v<Scalar, double>) {
      add(rows);
    } else {
      panel = rows.template cast<double>();
      add(panel);
    }
  }
}

template <class Scalar>
void add_gram_product(const SparseMatrix<Scalar>& matrix, Index begin, Index end, const Vector<double>& v,
                      double factor, Eigen::Ref<Vector<double>> sum) {
  for (Index row = begin; row < end; ++row) {
    const auto columns = row_columns(matrix, row);
    const auto values = row_values(matrix, row);
    double score = 0;
    for (std::size_t j = 0; j < values.size(); ++j) score += static_cast<double>(values[j]) * v[columns[j]];
    score *= factor;
    for (std::size_t j = 0; j < values.size(); ++j) sum[columns[j]] += static_cast<double>(values[j]) * score;
  }
}

template <class Matrix>
Index stored(const Matrix& matrix) {
  return matrix.size();
}
template <class Scalar>
Index stored(const SparseMatrix<Scalar>& matrix) {
  return matrix.nonZeros();
}

// v -> X'(X v) / scale^2. The blocks depend on the matrix only and are added in order: the same bits for any pool.
template <class Matrix>
Product gram_product(const Matrix& matrix, double scale, const SpectralOptions& options) {
  const Index most = std::clamp<Index>((Index{1} << 22) / matrix.cols(), 1, 64);
  const Index blocks = std::clamp<Index>(stored(matrix) >> 17, 1, std::min(most, std::max<Index>(matrix.rows(), 1)));
  return [&matrix, pool = options.pool, communicator = options.communicator, blocks, factor = 1 / scale / scale,
          partial = Eigen::MatrixXd(matrix.cols(), blocks)](const Vector<double>& v, Vector<double>& result) mutable {
    const auto task = [&](std::size_t number) {
      const auto block = static_cast<Index>(number);
      partial.col(block).setZero();
      add_gram_product(matrix, matrix.rows() * block / blocks, matrix.rows() * (block + 1) / blocks, v, factor,
                       partial.col(block));
    };
    if (pool != nullptr) {
      pool->run(static_cast<std::size_t>(blocks), task);
    } else {
      for (Index block = 0; block < blocks; ++block) task(static_cast<std::size_t>(block));
    }
    result = partial.col(0);
    for (Index block = 1; block < blocks; ++block) result += partial.col(block);
    all_reduce_sum(communicator, result);
  };
}

// An orthonormal basis V of n numbers a vector and the projection H = V'AV of the symmetric A given by its product. The
// full projection, not a tridiagonal one, is kept, because after a thick restart it is not tridiagonal any more.
class Lanczos {
 public:
  Lanczos(Index n, std::uint64_t seed)
      : capacity_(std::min(n, std::clamp<Index>((Index{1} << 24) / n, 12, 64))),
        basis_(n, capacity_),
        projection_(Eigen::MatrixXd::Zero(capacity_, capacity_)),
        next_(n) {
    Random random(seed);
    for (double& entry : next_) entry = random.normal();
    next_norm_ = next_.norm();
  }

  void step(const Product& product) {
    if (size_ == capacity_) restart();
    basis_.col(size_++) = next_ / next_norm_;
    const Vector<double> last = basis_.col(size_ - 1);
    product(last, next_);
    const auto basis = basis_.leftCols(size_);
    Vector<double> coefficients = basis.transpose() * next_;
    next_.noalias() -= basis * coefficients;
    const Vector<double> correction = basis.transpose() * next_;  // twice is enough
    next_.noalias() -= basis * correction;
    coefficients += correction;
    projection_.col(size_ - 1).head(size_) = coefficients;
    projection_.row(size_ - 1).head(size_) = coefficients.transpose();
    next_norm_ = next_.norm();
    solver_.compute(projection_.topLeftCorner(size_, size_));
  }

  double largest() const { return solver_.eigenvalues()[size_ - 1]; }
  // ||A v - theta v|| of the best pair, without another product. None is left once the basis spans everything.
  double residual() const {
    return size_ == basis_.rows() ? 0 : next_norm_ * std::abs(solver_.eigenvectors()(size_ - 1, size_ - 1));
  }

 private:
  void restart() {
    const Index kept = capacity_ / 4;
    const Eigen::MatrixXd best = basis_ * solver_.eigenvectors().rightCols(kept);
    basis_.leftCols(kept) = best;
    projection_.setZero();
    projection_.diagonal().head(kept) = solver_.eigenvalues().tail(kept);
    size_ = kept;
  }

  Index capacity_;
  Index size_ = 0;
  Eigen::MatrixXd basis_;
  Eigen::MatrixXd projection_;
  Vector<double> next_;
  double next_norm_;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver_;
};

void check(const SpectralOptions& options) {
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    throw Error(Fault::usage, fmt::format("the tolerance of the spectral norm is {}; it must be above 0 and below 1",
                                          options.tolerance));
  }
  if (options.max_iterations < 1) {
    throw Error(Fault::usage,
                fmt::format("the spectral norm is allowed {} iterations; it needs at least 1", options.max_iterations));
  }
}

}  // namespace

template <class Matrix>
SpectralNorm spectral_norm(const Matrix& matrix, const SpectralOptions& options) {
  check(options);
  if (all_reduce_sum(options.communicator, static_cast<double>(matrix.rows())) == 0 || matrix.cols() == 0)
    return {0, 0, 0, true};
  const double scale = safe_scale(matrix, options.communicator);
  const Product product = gram_product(matrix, scale, options);
  Lanczos lanczos(matrix.cols(), options.seed);
  SpectralNorm norm{0, 0, 0, false};
  while (norm.iterations < options.max_iterations && !norm.converged) {
    lanczos.step(product);
    ++norm.iterations;
    const double largest = lanczos.largest();
    if (!std::isfinite(largest)) {
      constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
      return {kNothing, kNothing, norm.iterations, false};
    }
    if (largest <= 0) return {0, 0, norm.iterations, true};  // a random start that X maps to zero: X is zero
    norm.value = scale * std::sqrt(largest);
    norm.relative_error = std::max(options.tolerance, lanczos.residual() / largest / 2);
    norm.converged = lanczos.residual() <= options.tolerance * largest;
  }
  return norm;
}

#define LIPSCHITZLR_SPECTRAL(Matrix) template SpectralNorm spectral_norm(const Matrix&, const SpectralOptions&)
LIPSCHITZLR_FOR_EACH_SOURCE(LIPSCHITZLR_SPECTRAL);

}  // namespace lipschitzlr::bound

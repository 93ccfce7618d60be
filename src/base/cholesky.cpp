#include "lipschitzlr/base/cholesky.hpp"

#include <algorithm>
#include <vector>

#include "base/block/block.hpp"

namespace lipschitzlr {
namespace {

constexpr std::size_t kDepth = 96;      // columns factored before the rest is updated: whole panels of every kernel
constexpr std::size_t kThreaded = 384;  // rows of the rest whose update is worth waking threads
constexpr std::size_t kMostEstimates = 5;

std::size_t round_up(std::size_t number, std::size_t step) { return (number + step - 1) / step * step; }

// Works on columns of the same stride as there are of them, a multiple of the panel.
class Factorisation {
 public:
  Factorisation(double* matrix, std::size_t size, ThreadPool* pool)
      : matrix_(matrix), size_(size), pool_(pool), packed_(size * std::min(kDepth, size)) {}

  bool run() {
    for (std::size_t first = 0; first < size_; first += kDepth) {
      const std::size_t depth = std::min(kDepth, size_ - first);
      if (!factor_columns(first, depth)) return false;
      update_rest(first, depth);
    }
    return true;
  }

 private:
  // A group of columns at a time, from the groups before it since first.
  bool factor_columns(std::size_t first, std::size_t depth) {
    for (std::size_t done = 0; done < depth; done += kernels_.columns) {
      const std::size_t column = first + done, panel = column / kernels_.panel * kernels_.panel;
      for (std::size_t top = panel; top < size_; top += kernels_.panel) subtract(first, depth, done, top, column);
      if (!kernels_.factor(matrix_ + column * size_ + column, size_, size_ - column)) return false;
      for (std::size_t top = panel; top < size_; top += kernels_.panel) {
        kernels_.pack_double(matrix_ + column * size_ + top, size_, kernels_.columns, kernels_.panel, nullptr,
                             packed(first, depth, top) + done * kernels_.panel);
      }
    }
    return true;
  }

  void update_rest(std::size_t first, std::size_t depth) {
    const std::size_t begin = first + depth, panels = (size_ - begin) / kernels_.panel;
    const auto update = [&](std::size_t number) {
      const std::size_t top = begin + (panels - 1 - number) * kernels_.panel;  // the longest rows first
      for (std::size_t column = begin; column < top + kernels_.panel; column += kernels_.columns) {
        subtract(first, depth, depth, top, column);
      }
    };
    if (pool_ != nullptr && size_ - begin >= kThreaded) {
      pool_->run(panels, update);
    } else {
      for (std::size_t number = 0; number < panels; ++number) update(number);
    }
  }

  // From one block of the lower triangle what the first count columns since first make of it.
  void subtract(std::size_t first, std::size_t depth, std::size_t count, std::size_t top, std::size_t column) {
    const std::size_t above = column > top ? (column - top) / kernels_.lanes : 0;  // vectors above the diagonal
    const std::size_t skipped = above * kernels_.lanes;
    const double* const right =
        packed(first, depth, column / kernels_.panel * kernels_.panel) + column % kernels_.panel;
    kernels_.subtract[kernels_.panel / kernels_.lanes - above - 1](packed(first, depth, top) + skipped, right, count,
                                                                   matrix_ + column * size_ + top + skipped, size_);
  }

  // The panel of the rows from top on, columns first to first + depth.
  double* packed(std::size_t first, std::size_t depth, std::size_t top) {
    return packed_.data() + (top - first) * depth;
  }

  const block::Kernels& kernels_ = block::kernels();
  double* matrix_;
  std::size_t size_;
  ThreadPool* pool_;
  std::vector<double> packed_;
};

// Right-hand sides with zeros below, so that they are as long as the factor, and back.
Eigen::MatrixXd padded(const Eigen::MatrixXd& right, Eigen::Index rows) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows, right.cols());
  result.topRows(right.rows()) = right;
  return result;
}

}  // namespace

Cholesky::Cholesky(const Eigen::MatrixXd& matrix, ThreadPool* pool) : size_(matrix.rows()) {
  const auto padded_size = static_cast<Eigen::Index>(round_up(static_cast<std::size_t>(size_), block::kernels().panel));
  factor_.resize(padded_size, padded_size);
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(size_);
  for (Eigen::Index j = 0; j < size_; ++j) {
    const auto column = matrix.col(j).tail(size_ - j);
    factor_.col(j).segment(j, size_ - j) = column;
    factor_.col(j).tail(padded_size - size_).setZero();
    sums.tail(size_ - j) += column.cwiseAbs();
    sums[j] += column.tail(size_ - j - 1).lpNorm<1>();
  }
  for (Eigen::Index j = size_; j < padded_size; ++j) {
    factor_.col(j).tail(padded_size - j).setZero();
    factor_(j, j) = 1;
  }
  norm_ = size_ == 0 ? 0 : sums.maxCoeff();
  succeeded_ = Factorisation(factor_.data(), static_cast<std::size_t>(padded_size), pool).run();
}

Eigen::MatrixXd Cholesky::lower() const { return factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>(); }

Eigen::MatrixXd Cholesky::solve(const Eigen::MatrixXd& right) const {
  if (right.cols() != 1) return solve_columns(right);
  return solve_column(right);
}

Eigen::MatrixXd Cholesky::solve_columns(const Eigen::MatrixXd& right) const {
  const auto lanes = static_cast<Eigen::Index>(block::kernels().lanes);
  Eigen::MatrixXd x(size_, right.cols()), some(lanes, size_);
  for (Eigen::Index first = 0; first < right.cols(); first += lanes) {
    const Eigen::Index count = std::min(lanes, right.cols() - first);
    some.topRows(count) = right.middleCols(first, count).transpose();
    some.bottomRows(lanes - count).setZero();
    block::kernels().solve_lanes(factor_.data(), static_cast<std::size_t>(factor_.rows()),
                                 static_cast<std::size_t>(size_), some.data());
    x.middleCols(first, count) = some.topRows(count).transpose();
  }
  return x;
}

Eigen::VectorXd Cholesky::solve_column(const Eigen::VectorXd& right) const {
  Eigen::MatrixXd x = padded(right, factor_.rows());
  const auto size = static_cast<std::size_t>(x.rows());
  block::kernels().solve_lower(factor_.data(), size, size, x.data());
  block::kernels().solve_upper(factor_.data(), size, size, x.data());
  return x.topRows(size_);
}

Eigen::MatrixXd Cholesky::solve_upper(const Eigen::MatrixXd& right) const {
  Eigen::MatrixXd x = padded(right, factor_.rows());
  const auto size = static_cast<std::size_t>(x.rows());
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    block::kernels().solve_upper(factor_.data(), size, size, x.col(j).data());
  }
  return x.topRows(size_);
}

double Cholesky::inverse_trace() const {
  const block::Kernels& kernels = block::kernels();
  const auto size = static_cast<std::size_t>(factor_.rows());
  const std::size_t width = kernels.panel, group = kernels.columns;
  const double* const l = factor_.data();
  // The rows of L by panels, and some columns of L^-1 at a time; these are zero above their first row.
  std::vector<double> packed(size * size), x(size * width);
  for (std::size_t top = 0; top < size; top += width) {
    kernels.pack_double(l + top, size, top + width, width, nullptr, packed.data() + top * size);
  }
  double trace = 0;
  for (std::size_t first = 0; first < size; first += width) {
    std::fill(x.begin(), x.end(), 0.0);
    for (std::size_t j = 0; j < std::min(width, static_cast<std::size_t>(size_) - first); ++j) x[j * width + j] = 1;
    for (std::size_t row = first; row < size; row += group) {
      const double* const rows = packed.data() + row / width * width * size + first * width + row % width;
      double* const to = x.data() + (row - first) * width;
      kernels.subtract[width / kernels.lanes - 1](x.data(), rows, row - first, to, width);
      kernels.solve_rows(l + row * size + row, size, to);
    }
    trace +=
        Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>((size - first) * width)).squaredNorm();
  }
  return trace;
}

double Cholesky::reciprocal_condition() const {
  if (!succeeded_) return 0;
  if (size_ == 0) return 1;
  const Eigen::VectorXd even = Eigen::VectorXd::Constant(size_, 1 / static_cast<double>(size_));
  Eigen::VectorXd found = solve(even);
  double estimate = found.lpNorm<1>();
  // A step to the unit vector where the norm grows fastest, as long as it grows.
  Eigen::Index last = -1;
  for (std::size_t i = 0; i < kMostEstimates; ++i) {
    const Eigen::VectorXd sign = found.unaryExpr([](double x) { return x < 0 ? -1.0 : 1.0; });
    Eigen::Index place = 0;
    Eigen::VectorXd(solve(sign)).cwiseAbs().maxCoeff(&place);
    if (place == last) break;
    last = place;
    found = solve(Eigen::VectorXd::Unit(size_, place));
    const double norm = found.lpNorm<1>();
    if (!(norm > estimate)) break;
    estimate = norm;
  }
  // Signs that alternate and grow: a matrix that deceives the steps seldom deceives these as well.
  const Eigen::VectorXd other = Eigen::VectorXd::NullaryExpr(size_, [&](Eigen::Index i) {
    return (i % 2 == 0 ? 1 : -1) *
           (1 + static_cast<double>(i) / static_cast<double>(std::max<Eigen::Index>(1, size_ - 1)));
  });
  estimate = std::max(estimate, 2 * Eigen::VectorXd(solve(other)).lpNorm<1>() / (3 * static_cast<double>(size_)));
  return 1 / (norm_ * estimate);
}

}  // namespace lipschitzlr

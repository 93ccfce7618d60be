#include "lipschitzlr/linear/gram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "linear/buffer.hpp"
#include "linear/matrix_view.hpp"
#include "lipschitzlr/base/collective.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr std::size_t kDepth = 256;         // rows packed at a time: a block's share of them fits the first-level cache
constexpr std::size_t kStripe = 64;         // columns of the result that a task computes
constexpr double kTaskWork = 1 << 18;       // multiplications of a task at least
constexpr double kWorkPerPartial = 8;       // and for every number of its partial result
constexpr std::size_t kMostRowChunks = 32;  // of rows
constexpr std::size_t kMostPartialBytes = 64 << 20;  // of partial results

std::size_t round_up(std::size_t number, std::size_t step) { return (number + step - 1) / step * step; }

// How the rows are cut into chunks with a partial result each; by the size of the problem only, which fixes the bits.
struct Chunks {
  std::size_t rows, count;

  // size: of a partial result, in numbers, which take time to clear and to add up.
  Chunks(std::size_t all_rows, double work, std::size_t size) {
    const std::size_t by_memory =
        std::max<std::size_t>(1, kMostPartialBytes / sizeof(double) / std::max<std::size_t>(1, size));
    const double task = std::max(kTaskWork, kWorkPerPartial * static_cast<double>(size));
    const auto by_work = static_cast<std::size_t>(std::clamp(work / task, 1.0, 1.0 * kMostRowChunks));
    rows = std::max<std::size_t>(1, (all_rows + std::min(by_memory, by_work) - 1) / std::min(by_memory, by_work));
    count = std::max<std::size_t>(1, (all_rows + rows - 1) / rows);
  }
};

// Some columns of the rows, each times its weight, in groups of the kernel's width: a group's rows one after the other.
template <std::size_t Columns, class Scalar>
void pack_groups(const Scalar* rows, std::size_t stride, const double* d, std::size_t depth, std::size_t width,
                 double* to) {
  for (std::size_t i = 0; i < depth; ++i) {
    const double weight = d == nullptr ? 1 : d[i];
    const Scalar* const from = rows + i * stride;
    std::size_t j = 0;
    for (; j + Columns <= width; j += Columns) {
      double* const group = to + j * depth + i * Columns;
      for (std::size_t u = 0; u < Columns; ++u) group[u] = weight * static_cast<double>(from[j + u]);
    }
    if (j == width) continue;
    double* const group = to + j * depth + i * Columns;
    for (std::size_t u = 0; u < Columns; ++u) group[u] = j + u < width ? weight * static_cast<double>(from[j + u]) : 0;
  }
}

// One stripe of columns of the lower triangle of X'DX over one chunk of rows.
template <class Scalar>
void add_stripe(const DenseMatrix<Scalar>& features, const Vector<double>& d, std::size_t first, std::size_t last,
                std::size_t column, std::size_t stride, double* result) {
  const kernel::Gram& kernel = kernel::kernels<double>().gram;
  const std::size_t n = size_of(features.cols());
  const std::size_t width = std::min(kStripe, n - column);
  const std::size_t panel = kernel::Gram::kMostVectors * kernel.lanes;
  Buffer<double> left_buffer, right_buffer;
  double* const left = left_buffer.reserve(kDepth * panel);
  double* const right = right_buffer.reserve(kDepth * round_up(width, kernel.columns));
  for (std::size_t row = first; row < last; row += kDepth) {
    const std::size_t depth = std::min(kDepth, last - row);
    const auto at = [&](std::size_t i) { return features.data() + (row + i) * n; };
    const auto pack = kernel.columns == 8 ? pack_groups<8, Scalar> : pack_groups<4, Scalar>;
    pack(at(0) + column, n, d.size() == 0 ? nullptr : d.data() + row, depth, width, right);
    // Panels start where the diagonal meets the stripe: what lies above it is not needed.
    for (std::size_t top = column / kernel.lanes * kernel.lanes; top < n; top += panel) {
      const std::size_t vectors = std::min(kernel::Gram::kMostVectors, (n - top + kernel.lanes - 1) / kernel.lanes);
      const std::size_t height = vectors * kernel.lanes, filled = std::min(height, n - top);
      for (std::size_t i = 0; i < depth; ++i) {
        double* const to = left + i * height;
        std::copy_n(at(i) + top, filled, to);
        std::fill(to + filled, to + height, 0.0);
      }
      for (std::size_t j = 0; j < width && column + j < top + height; j += kernel.columns) {
        kernel.block[vectors - 1](left, right + j * depth, depth, result + (column + j) * stride + top, stride);
      }
    }
  }
}

// The lower triangle by rows, whose order is that of the stored columns.
template <class Scalar>
void add_rows(const SparseMatrix<Scalar>& features, const Vector<double>& d, std::size_t first, std::size_t last,
              std::size_t stride, double* result) {
  const Scalar* const values = features.valuePtr();
  const std::int32_t* const columns = features.innerIndexPtr();
  const std::int32_t* const starts = features.outerIndexPtr();
  for (std::size_t row = first; row < last; ++row) {
    const double weight = d.size() == 0 ? 1 : d[static_cast<Index>(row)];
    for (std::int32_t a = starts[row]; a < starts[row + 1]; ++a) {
      double* const to = result + static_cast<std::size_t>(columns[a]) * stride;
      const double scaled = weight * static_cast<double>(values[a]);
      for (std::int32_t b = starts[row]; b <= a; ++b) to[columns[b]] += scaled * static_cast<double>(values[b]);
    }
  }
}

// The partial results one after the other, n columns of the given stride each, and their sum in that order.
template <class Scalar>
Eigen::MatrixXd partial_sum(const DenseMatrix<Scalar>& features, const Vector<double>& d, ThreadPool& pool) {
  const std::size_t m = size_of(features.rows()), n = size_of(features.cols());
  const kernel::Gram& kernel = kernel::kernels<double>().gram;
  const std::size_t stride = round_up(n, kernel.lanes), columns = round_up(n, kernel.columns);
  const Chunks chunks(m, static_cast<double>(m) * static_cast<double>(n * std::min(n, kStripe)) / 2, stride * columns);
  const std::size_t stripes = (n + kStripe - 1) / kStripe;
  std::vector<double> partial(chunks.count * stride * columns);
  pool.run(chunks.count * stripes, [&](std::size_t task) {
    const std::size_t chunk = task / stripes;
    add_stripe(features, d, chunk * chunks.rows, std::min(m, (chunk + 1) * chunks.rows), task % stripes * kStripe,
               stride, partial.data() + chunk * stride * columns);
  });
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(features.cols(), features.cols());
  for (std::size_t chunk = 0; chunk < chunks.count; ++chunk) {
    sum += Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>(partial.data() + chunk * stride * columns,
                                                                      sum.rows(), sum.cols(),
                                                                      Eigen::OuterStride<>(static_cast<Index>(stride)));
  }
  return sum;
}

template <class Scalar>
Eigen::MatrixXd partial_sum(const SparseMatrix<Scalar>& features, const Vector<double>& d, ThreadPool& pool) {
  const std::size_t m = size_of(features.rows()), n = size_of(features.cols());
  const double cells = static_cast<double>(features.nonZeros());
  const Chunks chunks(m, kSparseCost * cells * cells / static_cast<double>(std::max<std::size_t>(1, m)), n * n);
  std::vector<Eigen::MatrixXd> partial(chunks.count);
  pool.run(chunks.count, [&](std::size_t chunk) {
    partial[chunk] = Eigen::MatrixXd::Zero(features.cols(), features.cols());
    add_rows(features, d, chunk * chunks.rows, std::min(m, (chunk + 1) * chunks.rows), n, partial[chunk].data());
  });
  for (std::size_t chunk = 1; chunk < chunks.count; ++chunk) partial[0] += partial[chunk];
  return partial[0].transpose();
}

}  // namespace

template <class Matrix>
Eigen::MatrixXd gram(const Matrix& features, const Vector<double>& d, ThreadPool& pool, Communicator* communicator) {
  if (d.size() != 0 && d.size() != features.rows()) {
    throw Error(Fault::usage, fmt::format("X'DX needs one weight per row, but there are {} weights and {} rows",
                                          d.size(), features.rows()));
  }
  Eigen::MatrixXd sum = partial_sum(features, d, pool);
  all_reduce_sum(communicator, sum);
  sum.template triangularView<Eigen::StrictlyUpper>() = sum.transpose();
  return sum;
}

template Eigen::MatrixXd gram(const DenseMatrix<float>&, const Vector<double>&, ThreadPool&, Communicator*);
template Eigen::MatrixXd gram(const DenseMatrix<double>&, const Vector<double>&, ThreadPool&, Communicator*);
template Eigen::MatrixXd gram(const SparseMatrix<float>&, const Vector<double>&, ThreadPool&, Communicator*);
template Eigen::MatrixXd gram(const SparseMatrix<double>&, const Vector<double>&, ThreadPool&, Communicator*);

}  // namespace lipschitzlr::linear

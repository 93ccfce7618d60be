#include "lipschitzlr/linear/gram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/block/block.hpp"
#include "linear/buffer.hpp"
#include "linear/matrix_view.hpp"
#include "linear/row_blocks.hpp"
#include "lipschitzlr/base/collective.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr std::size_t kDepth = 128;    // rows packed at a time: a panel of them fits the first-level cache
constexpr std::size_t kStripe = 120;   // columns of the result that a task computes at most, nearly
constexpr double kTaskWork = 1 << 18;  // multiplications of a task at least
constexpr double kDenseWork = 128, kSparseWork = 8;                 // and for every number of its partial result
constexpr std::size_t kAddedInPlace = 1 << 16, kAddedColumns = 16;  // numbers that wake no thread; columns of a task
constexpr std::size_t kMostRowChunks = 32;                          // of rows
constexpr std::size_t kMostPartialBytes = 32 << 20;                 // of partial results
constexpr Index kMirrored = 32;  // rows and columns of a block whose transpose stays in the first-level cache

std::size_t round_up(std::size_t number, std::size_t step) { return (number + step - 1) / step * step; }

// How the rows are cut into chunks with a partial result each; by the size of the problem only, which fixes the bits.
struct Chunks {
  std::size_t rows, count;

  // size: of a partial result, in numbers, which take time to clear and to add up.
  Chunks(std::size_t all_rows, double work, double least_work, std::size_t size) {
    const std::size_t by_memory =
        std::max<std::size_t>(1, kMostPartialBytes / sizeof(double) / std::max<std::size_t>(1, size));
    const double task = std::max(kTaskWork, least_work * static_cast<double>(size));
    const auto by_work = static_cast<std::size_t>(std::clamp(work / task, 1.0, 1.0 * kMostRowChunks));
    rows = std::max<std::size_t>(1, (all_rows + std::min(by_memory, by_work) - 1) / std::min(by_memory, by_work));
    count = std::max<std::size_t>(1, (all_rows + rows - 1) / rows);
  }
};

// The lower triangle of X'DX by columns, padded to whole blocks, and how it is cut into stripes of columns.
struct Layout {
  const block::Kernels& kernels = block::kernels();
  std::size_t n, stride, columns;  // of X; of the result in memory
  std::size_t width, stripes;      // nearly equal ones

  explicit Layout(std::size_t features)
      : n(features), stride(round_up(n, kernels.lanes)), columns(round_up(n, kernels.columns)) {
    const std::size_t most = round_up(kStripe, kernels.panel), count = std::max<std::size_t>(1, (n + most - 1) / most);
    width = round_up(std::max<std::size_t>(1, (n + count - 1) / count), kernels.panel);
    stripes = (n + width - 1) / width;
  }
  std::size_t size() const { return stride * columns; }
};

// Some columns of the rows, times d, in a panel; a copy that does not wait for memory row by row.
template <class Scalar>
void pack(const block::Kernels& kernels, const Scalar* from, std::size_t stride, std::size_t rows, std::size_t width,
          const double* d, double* to) {
  if constexpr (std::is_same_v<Scalar, float>) {
    kernels.pack_float(from, stride, rows, width, d, to);
  } else {
    kernels.pack_double(from, stride, rows, width, d, to);
  }
}

// One stripe of columns of the result over one chunk of rows; what it holds before does not matter. Targets, when there
// are any, are one more column after those of the features.
template <class Matrix>
void compute_stripe(const Layout& layout, const Matrix& features, const Vector<typename Matrix::Scalar>* targets,
                    const Vector<double>& d, std::size_t first, std::size_t last, std::size_t column, double* result) {
  const block::Kernels& kernels = layout.kernels;
  const std::size_t n = layout.n, lanes = kernels.lanes, panel = kernels.panel, stride = layout.stride;
  const std::size_t given = size_of(features.cols());
  const std::size_t end = std::min(column + layout.width, n);
  for (std::size_t j = column; j < round_up(end, kernels.columns); ++j) {
    std::fill(result + j * stride + column, result + (j + 1) * stride, 0.0);
  }
  Buffer<typename Matrix::Scalar> made;
  Buffer<double> left_buffer, right_buffer;
  double* const left = left_buffer.reserve(kDepth * panel);
  double* const right = right_buffer.reserve(kDepth * layout.width);
  for (std::size_t row = first; row < last; row += kDepth) {
    const std::size_t depth = std::min(kDepth, last - row);
    const auto* const rows = rows_at(features, static_cast<Index>(row), static_cast<Index>(depth), made);
    const auto pack_at = [&](std::size_t top, const double* weights, double* to) {
      pack(kernels, rows + top, given, depth, std::min(panel, given - top), weights, to);
      if (targets == nullptr || top + panel < n) return;
      for (std::size_t i = 0; i < depth; ++i) {
        const auto target = static_cast<double>((*targets)[static_cast<Index>(row + i)]);
        to[i * panel + given - top] = weights == nullptr ? target : weights[i] * target;
      }
    };
    for (std::size_t top = column; top < n; top += panel) {
      const std::size_t place = (top - column) * depth;
      if (top < end) pack_at(top, d.size() == 0 ? nullptr : d.data() + row, right + place);
      const bool packed = top < end && d.size() == 0;
      if (!packed) pack_at(top, nullptr, left);
      const double* const a = packed ? right + place : left;
      const std::size_t vectors = (std::min(panel, n - top) + lanes - 1) / lanes;
      for (std::size_t j = column; j < std::min(end, top + panel); j += kernels.columns) {
        const std::size_t skipped = j > top ? (j - top) / lanes : 0;  // vectors above the diagonal
        const double* const b = right + (j - column) / panel * panel * depth + (j - column) % panel;
        kernels.add[vectors - skipped - 1](a + skipped * lanes, b, depth, result + j * stride + top + skipped * lanes,
                                           stride);
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

// Calls add(first, last) for groups of the n columns of a sum of so many partial results.
template <class Add>
void for_columns(std::size_t n, std::size_t parts, ThreadPool& pool, const Add& add) {
  const std::size_t tasks = parts * n * n < kAddedInPlace ? 1 : (n + kAddedColumns - 1) / kAddedColumns;
  pool.run(tasks, [&](std::size_t task) { add(n * task / tasks, n * (task + 1) / tasks); });
}

// The upper triangle from the lower, block by block: a column of one is a row of the other.
template <class Square>
void mirror(Square&& matrix) {
  const Index size = matrix.rows();
  for (Index first = 0; first < size; first += kMirrored) {
    const Index count = std::min(kMirrored, size - first);
    for (Index j = first; j < first + count; ++j) {
      for (Index i = first; i < j; ++i) matrix(i, j) = matrix(j, i);
    }
    for (Index below = first + count; below < size; below += kMirrored) {
      const Index rows = std::min(kMirrored, size - below);
      matrix.block(first, below, count, rows) = matrix.block(below, first, rows, count).transpose();
    }
  }
}

// The partial results of the chunks, added up in their order.
template <class Matrix>
Eigen::MatrixXd partial_sum(const Matrix& features, const Vector<typename Matrix::Scalar>* targets,
                            const Vector<double>& d, ThreadPool& pool) {
  const std::size_t m = size_of(features.rows()), n = size_of(features.cols()) + (targets == nullptr ? 0 : 1);
  const Layout layout(n);
  const Chunks chunks(m, static_cast<double>(m) * static_cast<double>(n * std::min(n, layout.width)) / 2, kDenseWork,
                      layout.size());
  Buffer<double> buffer;
  double* const partial = buffer.reserve(chunks.count * layout.size());
  pool.run(chunks.count * layout.stripes, [&](std::size_t task) {
    const std::size_t chunk = task / layout.stripes;
    compute_stripe(layout, features, targets, d, chunk * chunks.rows, std::min(m, (chunk + 1) * chunks.rows),
                   task % layout.stripes * layout.width, partial + chunk * layout.size());
  });
  Eigen::MatrixXd sum(static_cast<Index>(n), static_cast<Index>(n));
  for_columns(n, chunks.count, pool, [&](std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
      double* const to = sum.data() + j * n;
      std::copy_n(partial + j * layout.stride + j, n - j, to + j);
      for (std::size_t chunk = 1; chunk < chunks.count; ++chunk) {
        const double* const from = partial + chunk * layout.size() + j * layout.stride;
        for (std::size_t i = j; i < n; ++i) to[i] += from[i];
      }
    }
  });
  mirror(sum);
  return sum;
}

template <class Scalar>
Eigen::MatrixXd partial_sum(const SparseMatrix<Scalar>& features, const Vector<Scalar>* targets,
                            const Vector<double>& d, ThreadPool& pool) {
  const std::size_t m = size_of(features.rows()), n = size_of(features.cols());
  const double cells = static_cast<double>(features.nonZeros());
  const Chunks chunks(m, kSparseCost * cells * cells / static_cast<double>(std::max<std::size_t>(1, m)), kSparseWork,
                      n * n);
  std::vector<Eigen::MatrixXd> partial(chunks.count);
  pool.run(chunks.count, [&](std::size_t chunk) {
    partial[chunk] = Eigen::MatrixXd::Zero(features.cols(), features.cols());
    add_rows(features, d, chunk * chunks.rows, std::min(m, (chunk + 1) * chunks.rows), n, partial[chunk].data());
  });
  for_columns(n, chunks.count, pool, [&](std::size_t first, std::size_t last) {
    const auto from = static_cast<Index>(first), count = static_cast<Index>(last - first);
    for (std::size_t chunk = 1; chunk < chunks.count; ++chunk) {
      partial[0].middleCols(from, count) += partial[chunk].middleCols(from, count);
    }
  });
  mirror(partial[0].transpose());
  if (targets == nullptr) return std::move(partial[0]);
  const Index columns = features.cols();
  const Vector<double> y = targets->template cast<double>(), weighed = d.size() == 0 ? y : y.cwiseProduct(d).eval();
  Eigen::MatrixXd sum(columns + 1, columns + 1);
  sum.topLeftCorner(columns, columns) = partial[0];
  sum.col(columns).head(columns) = features.template cast<double>().transpose() * weighed;
  sum.row(columns).head(columns) = sum.col(columns).head(columns).transpose();
  sum(columns, columns) = y.dot(weighed);
  return sum;
}

template <class Matrix>
Eigen::MatrixXd whole_sum(const Matrix& features, const Vector<typename Matrix::Scalar>* targets,
                          const Vector<double>& d, ThreadPool& pool, Communicator* communicator) {
  if (d.size() != 0 && d.size() != features.rows()) {
    throw Error(Fault::usage, fmt::format("X'DX needs one weight per row, but there are {} weights and {} rows",
                                          d.size(), features.rows()));
  }
  Eigen::MatrixXd sum = partial_sum(features, targets, d, pool);
  all_reduce_sum(communicator, sum);
  return sum;
}

}  // namespace

template <class Matrix>
Eigen::MatrixXd gram(const Matrix& features, const Vector<double>& d, ThreadPool& pool, Communicator* communicator) {
  return whole_sum<Matrix>(features, nullptr, d, pool, communicator);
}

template <class Matrix>
Eigen::MatrixXd gram_with_targets(const Matrix& features, const Vector<typename Matrix::Scalar>& targets,
                                  const Vector<double>& d, ThreadPool& pool, Communicator* communicator) {
  return whole_sum<Matrix>(features, &targets, d, pool, communicator);
}

// A product and its weight are rounded, then every sum that it becomes part of: of dense rows those of a block, of the
// blocks of a chunk and of the chunks, of sparse rows one after the other.
template <class Matrix>
double gram_error(const Matrix&, Index rows, Communicator* communicator) {
  const auto m = static_cast<double>(rows), depth = static_cast<double>(kDepth);
  const bool sparse = std::is_same_v<Matrix, SparseMatrix<typename Matrix::Scalar>>;
  const double sums = sparse ? m : std::min(m, depth + m / depth + 1);
  const double processes = communicator == nullptr ? 0 : communicator->size();
  const double unit = std::numeric_limits<double>::epsilon() / 2;
  const double steps = unit * (2 + sums + static_cast<double>(kMostRowChunks) + processes);
  return steps / (1 - steps);
}

#define LIPSCHITZLR_GRAM(Matrix)                                                                                  \
  template Eigen::MatrixXd gram(const Matrix&, const Vector<double>&, ThreadPool&, Communicator*);                \
  template Eigen::MatrixXd gram_with_targets(const Matrix&, const Vector<Matrix::Scalar>&, const Vector<double>&, \
                                             ThreadPool&, Communicator*);                                         \
  template double gram_error(const Matrix&, Index, Communicator*)
LIPSCHITZLR_GRAM(DenseMatrix<float>);
LIPSCHITZLR_GRAM(DenseMatrix<double>);
LIPSCHITZLR_GRAM(SparseMatrix<float>);
LIPSCHITZLR_GRAM(SparseMatrix<double>);
LIPSCHITZLR_GRAM(StreamedRows<float>);
LIPSCHITZLR_GRAM(StreamedRows<double>);

}  // namespace lipschitzlr::linear

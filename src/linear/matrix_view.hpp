#pragma once
// A dense, sparse or streamed matrix as the kernels take it, with the cost of a row; shared by training and prediction.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "linear/kernel/kernel.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::linear {

// What one stored value of a sparse row costs, in multiplications of a dense one.
inline constexpr double kSparseCost = 6;
// What turning one score into a residual costs (an exponential, mostly), in the same unit.
inline constexpr double kScoreCost = 12;

inline std::size_t size_of(Index number) { return static_cast<std::size_t>(number); }

// The kernels rely on sorted columns, which a matrix assembled by hand may not have.
template <class Scalar>
void check_columns(const SparseMatrix<Scalar>& features) {
  const std::int32_t* const columns = features.innerIndexPtr();
  const std::int32_t* const starts = features.outerIndexPtr();
  for (Index row = 0; row < features.rows(); ++row) {
    std::int32_t least = 0;
    for (std::int32_t cell = starts[row]; cell < starts[row + 1]; ++cell) {
      if (columns[cell] < least || columns[cell] >= features.cols()) {
        throw Error(Fault::data, fmt::format("row {}: column {} is out of order, repeated or past the last column",
                                             row + 1, columns[cell] + 1));
      }
      least = columns[cell] + 1;
    }
  }
}

// The matrix as fields of a job.
template <class Scalar>
void describe(const DenseMatrix<Scalar>& features, kernel::Job<Scalar>& job) {
  job.dense = features.data();
}

template <class Scalar>
void describe(const StreamedRows<Scalar>& features, kernel::Job<Scalar>& job) {
  job.source = &features;
  job.make = [](const void* source, const std::ptrdiff_t* rows, std::size_t first, std::size_t count, Scalar* to) {
    const auto& streamed = *static_cast<const StreamedRows<Scalar>*>(source);
    streamed.fill(rows, static_cast<Index>(first), static_cast<Index>(count), to);
  };
}

template <class Scalar>
void describe(const SparseMatrix<Scalar>& features, kernel::Job<Scalar>& job) {
  if (!features.isCompressed()) {
    throw Error(Fault::usage, "the sparse matrix is not compressed; call its makeCompressed() first");
  }
  job.values = features.valuePtr();
  check_columns(features);
  job.ones = std::all_of(job.values, job.values + features.nonZeros(), [](Scalar value) { return value == 1; });
  job.columns = features.innerIndexPtr();
  job.starts = features.outerIndexPtr();
}

// Numbers of a block of rows that a job makes.
template <class Scalar>
std::size_t made_size(const kernel::Job<Scalar>& job) {
  return job.make == nullptr ? 0 : kernel::kMadeRows * job.features;
}

template <class Matrix>
const kernel::Engine<typename Matrix::Scalar>& engine_for(const Matrix&) {
  return kernel::kernels<typename Matrix::Scalar>().dense;
}

template <class Scalar>
const kernel::Engine<Scalar>& engine_for(const SparseMatrix<Scalar>&) {
  return kernel::kernels<Scalar>().sparse;
}

template <class Matrix>
double work_per_row(const Matrix& features) {
  return static_cast<double>(features.cols());
}

template <class Scalar>
double work_per_row(const SparseMatrix<Scalar>& features) {
  return kSparseCost * static_cast<double>(features.nonZeros()) / static_cast<double>(features.rows());
}

inline void check_shape(Index rows, Index columns, Index features, Index outputs) {
  if (rows == features && columns == outputs) return;
  throw Error(Fault::usage, fmt::format("the weights are {} x {}, but the model has {} features and {} outputs", rows,
                                        columns, features, outputs));
}

}  // namespace lipschitzlr::linear

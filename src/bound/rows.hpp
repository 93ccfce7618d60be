#pragma once
// What the norms share: one row of a matrix as a run of stored values, a power of two that brings the entries of
// extreme matrices near one, and the lists of types everything is instantiated for: matrices in memory, and all.

#include <cmath>
#include <span>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::bound {

template <class Scalar>
std::span<const Scalar> row_values(const DenseMatrix<Scalar>& matrix, Index row) {
  return {matrix.data() + row * matrix.cols(), static_cast<std::size_t>(matrix.cols())};
}

template <class Scalar>
std::size_t stored_in_row(const SparseMatrix<Scalar>& matrix, Index row) {
  const auto* starts = matrix.outerIndexPtr();
  return static_cast<std::size_t>(matrix.isCompressed() ? starts[row + 1] - starts[row]
                                                        : matrix.innerNonZeroPtr()[row]);
}

template <class Scalar>
std::span<const Scalar> row_values(const SparseMatrix<Scalar>& matrix, Index row) {
  return {matrix.valuePtr() + matrix.outerIndexPtr()[row], stored_in_row(matrix, row)};
}

template <class Scalar>
std::span<const std::int32_t> row_columns(const SparseMatrix<Scalar>& matrix, Index row) {
  return {matrix.innerIndexPtr() + matrix.outerIndexPtr()[row], stored_in_row(matrix, row)};
}

// Calls visit(row number, its stored values) for all rows in their order.
template <class Matrix, class Visit>
void for_each_row(const Matrix& matrix, const Visit& visit) {
  for (Index row = 0; row < matrix.rows(); ++row) visit(row, row_values(matrix, row));
}

template <class Scalar, class Visit>
void for_each_row(const StreamedRows<Scalar>& matrix, const Visit& visit) {
  constexpr Index kTogether = 64;
  DenseMatrix<Scalar> block(kTogether, matrix.cols());
  for (Index first = 0; first < matrix.rows(); first += kTogether) {
    const Index count = std::min(kTogether, matrix.rows() - first);
    matrix.fill(first, count, block.data());
    for (Index i = 0; i < count; ++i) visit(first + i, row_values(block, i));
  }
}

// 1 for ordinary matrices: fourth powers of entries between 1e-60 and 1e60 neither overflow nor vanish. Otherwise the
// power of two just below the largest entry, kept so that its inverse is a number too. The same in all processes.
template <class Matrix>
double safe_scale(const Matrix& matrix, Communicator* communicator) {
  double largest = 0;
  for_each_row(matrix, [&](Index, const auto& values) {
    for (const auto value : values) {
      const double size = std::abs(static_cast<double>(value));
      largest = size > largest ? size : largest;
    }
  });
  largest = all_reduce_max(communicator, largest);
  if (largest == 0 || !std::isfinite(largest) || (largest > 1e-60 && largest < 1e60)) return 1;
  return std::ldexp(1.0, std::max(-1000, std::ilogb(largest)));
}

}  // namespace lipschitzlr::bound

#define LIPSCHITZLR_FOR_EACH_MATRIX(instantiate) \
  instantiate(DenseMatrix<float>);               \
  instantiate(DenseMatrix<double>);              \
  instantiate(SparseMatrix<float>);              \
  instantiate(SparseMatrix<double>)

#define LIPSCHITZLR_FOR_EACH_SOURCE(instantiate) \
  LIPSCHITZLR_FOR_EACH_MATRIX(instantiate);      \
  instantiate(StreamedRows<float>);              \
  instantiate(StreamedRows<double>)

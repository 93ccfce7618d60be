#pragma once
// What the norms share: one row of a dense or sparse matrix as a run of stored values, a power of two that brings the
// entries of extreme matrices near one, and the list of matrix types everything is instantiated for.

#include <cmath>
#include <span>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/matrix.hpp"

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

// 1 for ordinary matrices: fourth powers of entries between 1e-60 and 1e60 neither overflow nor vanish. Otherwise the
// power of two just below the largest entry, kept so that its inverse is a number too. The same in all processes.
template <class Matrix>
double safe_scale(const Matrix& matrix, Communicator* communicator) {
  double largest = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (const auto value : row_values(matrix, row)) {
      const double size = std::abs(static_cast<double>(value));
      largest = size > largest ? size : largest;
    }
  }
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

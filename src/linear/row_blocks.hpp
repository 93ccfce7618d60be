#pragma once
// Rows of a matrix by blocks, so that what reads them need not know whether they are in memory (dense), made when they
// are read (streamed), or sparse.

#include <algorithm>

#include "linear/buffer.hpp"
#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::linear {

// Rows one after the other, without gaps; made in the buffer unless they are in memory.
template <class Scalar>
const Scalar* rows_at(const DenseMatrix<Scalar>& matrix, Index first, Index, Buffer<Scalar>&) {
  return matrix.data() + first * matrix.cols();
}

template <class Scalar>
const Scalar* rows_at(const StreamedRows<Scalar>& matrix, Index first, Index count, Buffer<Scalar>& made) {
  Scalar* const rows = made.reserve(static_cast<std::size_t>(count * matrix.cols()));
  matrix.fill(first, count, rows);
  return rows;
}

// Calls visit(first row, rows in double) for the rows from first on, in blocks that stay in a cache.
template <class Matrix, class Visit>
void for_each_block(const Matrix& matrix, Index first, Index count, const Visit& visit) {
  using Scalar = typename Matrix::Scalar;
  constexpr Index kLeastRows = 64, kNumbers = 16384;
  const Index height = std::max(kLeastRows, kNumbers / std::max<Index>(1, matrix.cols()));
  Buffer<Scalar> made;
  for (Index row = first; row < first + count; row += height) {
    const Index rows = std::min(height, first + count - row);
    visit(row, DenseView<Scalar>(rows_at(matrix, row, rows, made), rows, matrix.cols()).template cast<double>());
  }
}

template <class Scalar, class Visit>
void for_each_block(const SparseMatrix<Scalar>& matrix, Index first, Index count, const Visit& visit) {
  visit(first, matrix.middleRows(first, count).template cast<double>());
}

// The matrix in memory, for what reads it column by column or many times.
template <class Matrix>
const Matrix& held(const Matrix& matrix, ThreadPool&) {
  return matrix;
}

template <class Scalar>
DenseMatrix<Scalar> held(const StreamedRows<Scalar>& matrix, ThreadPool& pool) {
  return matrix.dense(&pool);
}

}  // namespace lipschitzlr::linear

#pragma once
// Some rows of a matrix, in the given order.

#include <span>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::linear {

template <class Scalar>
DenseMatrix<Scalar> take_rows(const DenseMatrix<Scalar>& matrix, std::span<const Index> rows) {
  DenseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  for (Index i = 0; i < taken.rows(); ++i) taken.row(i) = matrix.row(rows[static_cast<std::size_t>(i)]);
  return taken;
}

template <class Scalar>
SparseMatrix<Scalar> take_rows(const SparseMatrix<Scalar>& matrix, std::span<const Index> rows) {
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

template <class Scalar>
DenseMatrix<Scalar> take_rows(const StreamedRows<Scalar>& matrix, std::span<const Index> rows) {
  DenseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  matrix.fill(rows, taken.data());
  return taken;
}

}  // namespace lipschitzlr::linear

#pragma once
// Some rows of a matrix, in the given order; on the threads of a pool.

#include <algorithm>
#include <span>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::linear {

// Calls task(first, count) for parts of so many rows.
template <class Task>
void for_taken_rows(std::size_t rows, ThreadPool& pool, const Task& task) {
  constexpr std::size_t kTogether = 256;
  pool.run((rows + kTogether - 1) / kTogether,
           [&](std::size_t part) { task(part * kTogether, std::min(kTogether, rows - part * kTogether)); });
}

template <class Scalar>
DenseMatrix<Scalar> take_rows(const DenseMatrix<Scalar>& matrix, std::span<const Index> rows, ThreadPool& pool) {
  DenseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  for_taken_rows(rows.size(), pool, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) taken.row(static_cast<Index>(i)) = matrix.row(rows[i]);
  });
  return taken;
}

template <class Scalar>
SparseMatrix<Scalar> take_rows(const SparseMatrix<Scalar>& matrix, std::span<const Index> rows, ThreadPool&) {
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
DenseMatrix<Scalar> take_rows(const StreamedRows<Scalar>& matrix, std::span<const Index> rows, ThreadPool& pool) {
  DenseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  for_taken_rows(rows.size(), pool, [&](std::size_t first, std::size_t count) {
    matrix.fill(rows.subspan(first, count), taken.data() + static_cast<Index>(first) * matrix.cols());
  });
  return taken;
}

}  // namespace lipschitzlr::linear

#include <algorithm>
#include <vector>

#include "bound/rows.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

constexpr Index kBlock = 512;  // rows or columns taken into double at a time

template <class Scalar>
double gram_norm(const DenseMatrix<Scalar>& matrix, double factor) {
  if (matrix.size() == 0) return 0;
  const bool tall = matrix.rows() >= matrix.cols();
  const Index length = std::max(matrix.rows(), matrix.cols());
  const Index width = std::min(matrix.rows(), matrix.cols());
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(width, width);
  Eigen::MatrixXd block;  // width x at most kBlock
  for (Index start = 0; start < length; start += kBlock) {
    const Index count = std::min(kBlock, length - start);
    if (tall) {
      block = matrix.middleRows(start, count).template cast<double>().transpose() * factor;
    } else {
      block = matrix.middleCols(start, count).template cast<double>() * factor;
    }
    gram.selfadjointView<Eigen::Lower>().rankUpdate(block);
  }
  double sum = 0;
  for (Index column = 0; column < width; ++column) {
    const Index below = width - column - 1;
    sum += gram(column, column) * gram(column, column) + 2 * gram.col(column).tail(below).squaredNorm();
  }
  return std::sqrt(sum);
}

template <class Scalar>
double products_of_row_pairs(const SparseMatrix<Scalar>& matrix) {
  double sum = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    const double stored = static_cast<double>(row_values(matrix, row).size());
    sum += stored * stored;
  }
  return sum;
}

// ||A'A||_F from A and its transpose: row j of the product is the sum of a_ij times row i of A over the i of column j
// (Gustavson's method); it is built in an accumulator, measured and forgotten.
template <class Scalar>
double gram_norm(const SparseMatrix<Scalar>& matrix, const SparseMatrix<Scalar>& transpose, double factor) {
  std::vector<double> accumulator(static_cast<std::size_t>(matrix.cols()));
  std::vector<std::size_t> touched;
  double sum = 0;
  for (Index j = 0; j < transpose.rows(); ++j) {
    const auto rows = row_columns(transpose, j);
    const auto weights = row_values(transpose, j);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double weight = static_cast<double>(weights[i]) * factor;
      const auto columns = row_columns(matrix, rows[i]);
      const auto values = row_values(matrix, rows[i]);
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto column = static_cast<std::size_t>(columns[k]);
        if (accumulator[column] == 0) touched.push_back(column);
        accumulator[column] += weight * (static_cast<double>(values[k]) * factor);
      }
    }
    // A sum that passed through zero is listed twice; the second time it has been measured and is zero.
    for (const std::size_t column : touched) {
      sum += accumulator[column] * accumulator[column];
      accumulator[column] = 0;
    }
    touched.clear();
  }
  return std::sqrt(sum);
}

template <class Scalar>
double gram_norm(const SparseMatrix<Scalar>& matrix, double factor) {
  const SparseMatrix<Scalar> transpose = matrix.transpose();
  const bool by_rows = products_of_row_pairs(matrix) <= products_of_row_pairs(transpose);
  return by_rows ? gram_norm(matrix, transpose, factor) : gram_norm(transpose, matrix, factor);
}

}  // namespace

template <class Matrix>
double gram_frobenius_norm(const Matrix& matrix) {
  const double scale = safe_scale(matrix);
  return scale * gram_norm(matrix, 1 / scale) * scale;
}

#define LIPSCHITZLR_GRAM(Matrix) template double gram_frobenius_norm(const Matrix&)
LIPSCHITZLR_FOR_EACH_MATRIX(LIPSCHITZLR_GRAM);

}  // namespace lipschitzlr::bound

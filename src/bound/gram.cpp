#include <algorithm>
#include <vector>

#include "bound/rows.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

constexpr Index kBlock = 512;  // rows or columns taken into double at a time

// ||XX'||_F^2 is the sum over the processes of ||X_p X'||_F^2: each multiplies its own rows by all rows, of which it
// receives a block of columns at a time.
template <class Scalar>
double wide_gram_norm(const DenseMatrix<Scalar>& matrix, Index all_rows, double factor, Communicator* communicator) {
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(matrix.rows(), all_rows);
  for (Index start = 0; start < matrix.cols(); start += kBlock) {
    const Index count = std::min(kBlock, matrix.cols() - start);
    const DenseMatrix<double> own = matrix.middleCols(start, count).template cast<double>() * factor;
    const std::vector<double> all = all_gather(communicator, {own.data(), own.data() + own.size()});
    products.noalias() += own * Eigen::Map<const DenseMatrix<double>>(all.data(), all_rows, count).transpose();
  }
  return std::sqrt(all_reduce_sum(communicator, products.squaredNorm()));
}

template <class Scalar>
auto rows_between(const DenseMatrix<Scalar>& matrix, Index first, Index count) {
  return matrix.middleRows(first, count).template cast<double>();
}

template <class Scalar>
DenseMatrix<double> rows_between(const StreamedRows<Scalar>& matrix, Index first, Index count) {
  DenseMatrix<Scalar> rows(count, matrix.cols());
  matrix.fill(first, count, rows.data());
  return rows.template cast<double>();
}

template <class Scalar>
const DenseMatrix<Scalar>& in_memory(const DenseMatrix<Scalar>& matrix) {
  return matrix;
}

template <class Scalar>
DenseMatrix<Scalar> in_memory(const StreamedRows<Scalar>& matrix) {
  return matrix.dense();
}

double sum_of_squares(const Eigen::MatrixXd& lower) {
  double sum = 0;
  for (Index column = 0; column < lower.cols(); ++column) {
    const Index below = lower.rows() - column - 1;
    sum += lower(column, column) * lower(column, column) + 2 * lower.col(column).tail(below).squaredNorm();
  }
  return sum;
}

// Dense or streamed; a wide one is gone through column by column, in memory.
template <class Matrix>
double gram_norm(const Matrix& matrix, double factor, Communicator* communicator) {
  const auto all_rows = static_cast<Index>(all_reduce_sum(communicator, static_cast<double>(matrix.rows())));
  if (all_rows == 0 || matrix.cols() == 0) return 0;
  const bool tall = all_rows >= matrix.cols();
  if (!tall && communicator != nullptr) return wide_gram_norm(in_memory(matrix), all_rows, factor, communicator);
  const Index width = tall ? matrix.cols() : matrix.rows();
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(width, width);
  Eigen::MatrixXd block;  // width x at most kBlock
  if (tall) {
    for (Index start = 0; start < matrix.rows(); start += kBlock) {
      block = rows_between(matrix, start, std::min(kBlock, matrix.rows() - start)).transpose() * factor;
      gram.selfadjointView<Eigen::Lower>().rankUpdate(block);
    }
  } else {
    const auto& held = in_memory(matrix);
    for (Index start = 0; start < held.cols(); start += kBlock) {
      block = held.middleCols(start, std::min(kBlock, held.cols() - start)).template cast<double>() * factor;
      gram.selfadjointView<Eigen::Lower>().rankUpdate(block);
    }
  }
  all_reduce_sum(communicator, gram);
  return std::sqrt(sum_of_squares(gram));
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
// (Gustavson's method); it is built in an accumulator, measured and dropped. With several processes, which all have
// all of A, each takes a share of the rows of the product.
template <class Scalar>
double gram_norm(const SparseMatrix<Scalar>& matrix, const SparseMatrix<Scalar>& transpose, double factor,
                 Communicator* communicator) {
  std::vector<double> accumulator(static_cast<std::size_t>(matrix.cols()));
  std::vector<std::size_t> touched;
  const auto [first, last] = communicator == nullptr
                                 ? std::pair(Index{0}, transpose.rows())
                                 : share_of(transpose.rows(), communicator->rank(), communicator->size());
  double sum = 0;
  for (Index j = first; j < last; ++j) {
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
  return std::sqrt(all_reduce_sum(communicator, sum));
}

template <class Scalar>
SparseMatrix<Scalar> gather_rows(const SparseMatrix<Scalar>& matrix, Communicator* communicator) {
  std::vector<double> own_sizes, own_columns, own_values;
  for (Index row = 0; row < matrix.rows(); ++row) {
    const auto columns = row_columns(matrix, row);
    const auto values = row_values(matrix, row);
    own_sizes.push_back(static_cast<double>(values.size()));
    own_columns.insert(own_columns.end(), columns.begin(), columns.end());
    own_values.insert(own_values.end(), values.begin(), values.end());
  }
  const std::vector<double> sizes = all_gather(communicator, std::move(own_sizes));
  const std::vector<double> columns = all_gather(communicator, std::move(own_columns));
  const std::vector<double> values = all_gather(communicator, std::move(own_values));
  SparseMatrix<Scalar> all(static_cast<Index>(sizes.size()), matrix.cols());
  all.reserve(static_cast<Index>(values.size()));
  std::size_t cell = 0;
  for (Index row = 0; row < all.rows(); ++row) {
    all.startVec(row);
    const std::size_t end = cell + static_cast<std::size_t>(sizes[static_cast<std::size_t>(row)]);
    for (; cell < end; ++cell) {
      all.insertBack(row, static_cast<Index>(columns[cell])) = static_cast<Scalar>(values[cell]);
    }
  }
  all.finalize();
  return all;
}

template <class Scalar>
double gram_norm_of_all(const SparseMatrix<Scalar>& matrix, double factor, Communicator* communicator) {
  const SparseMatrix<Scalar> transpose = matrix.transpose();
  const bool by_rows = products_of_row_pairs(matrix) <= products_of_row_pairs(transpose);
  return by_rows ? gram_norm(matrix, transpose, factor, communicator)
                 : gram_norm(transpose, matrix, factor, communicator);
}

template <class Scalar>
double gram_norm(const SparseMatrix<Scalar>& matrix, double factor, Communicator* communicator) {
  if (communicator == nullptr) return gram_norm_of_all(matrix, factor, communicator);
  return gram_norm_of_all(gather_rows(matrix, communicator), factor, communicator);
}

}  // namespace

template <class Matrix>
double gram_frobenius_norm(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  return scale * gram_norm(matrix, 1 / scale, communicator) * scale;
}

#define LIPSCHITZLR_GRAM(Matrix) template double gram_frobenius_norm(const Matrix&, Communicator*)
LIPSCHITZLR_FOR_EACH_SOURCE(LIPSCHITZLR_GRAM);

}  // namespace lipschitzlr::bound

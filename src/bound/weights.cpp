#include "lipschitzlr/bound/weights.hpp"

#include <fmt/format.h>

#include <limits>

#include "bound/rows.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

struct Columns {
  Vector<double> sum;
  Vector<double> largest;
};

template <class Scalar>
Columns summarise(const DenseView<Scalar>& matrix) {
  Columns columns{Vector<double>::Zero(matrix.cols()), matrix.row(0).transpose().template cast<double>()};
  for (Index row = 0; row < matrix.rows(); ++row) {
    const auto values = matrix.row(row).transpose().template cast<double>();
    columns.sum += values;
    columns.largest = columns.largest.cwiseMax(values);
  }
  return columns;
}

template <class Scalar>
Columns summarise(const DenseMatrix<Scalar>& matrix) {
  return summarise(DenseView<Scalar>(matrix.data(), matrix.rows(), matrix.cols()));
}

Columns summarise(const StreamedRows<double>& rows) {
  const ColumnSums& sums = rows.column_sums();
  return {sums.sum.matrix().transpose(), sums.high.matrix().transpose()};
}

template <class Scalar>
Columns summarise(const SparseView<Scalar>& matrix) {
  Columns columns{Vector<double>::Zero(matrix.cols()),
                  Vector<double>::Constant(matrix.cols(), -std::numeric_limits<double>::infinity())};
  Eigen::Matrix<Index, Eigen::Dynamic, 1> stored = Eigen::Matrix<Index, Eigen::Dynamic, 1>::Zero(matrix.cols());
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (typename SparseView<Scalar>::InnerIterator cell(matrix, row); cell; ++cell) {
      const double value = static_cast<double>(cell.value());
      columns.sum[cell.col()] += value;
      columns.largest[cell.col()] = std::max(columns.largest[cell.col()], value);
      ++stored[cell.col()];
    }
  }
  for (Index column = 0; column < matrix.cols(); ++column) {
    if (stored[column] < matrix.rows()) columns.largest[column] = std::max(columns.largest[column], 0.0);
  }
  return columns;
}

template <class Scalar>
Columns summarise(const SparseMatrix<Scalar>& matrix) {
  return summarise(SparseView<Scalar>(matrix.rows(), matrix.cols(), matrix.nonZeros(), matrix.outerIndexPtr(),
                                      matrix.innerIndexPtr(), matrix.valuePtr(), matrix.innerNonZeroPtr()));
}

}  // namespace

template <class Matrix>
double weight_bound_estimate(const Matrix& raw_features) {
  if (raw_features.rows() == 0 || raw_features.cols() == 0) {
    throw Error(Fault::data, fmt::format("the weight bound K needs at least one row and one column, but there are {} "
                                         "rows and {} columns",
                                         raw_features.rows(), raw_features.cols()));
  }
  const Columns columns = summarise(raw_features);
  const double a = columns.sum.cwiseAbs().sum() / static_cast<double>(raw_features.rows());
  const double b = columns.largest.mean();
  return (a + b) / 2;
}

#define LIPSCHITZLR_WEIGHTS(Matrix) template double weight_bound_estimate(const Matrix&)
LIPSCHITZLR_FOR_EACH_MATRIX(LIPSCHITZLR_WEIGHTS);
LIPSCHITZLR_WEIGHTS(DenseView<float>);
LIPSCHITZLR_WEIGHTS(DenseView<double>);
LIPSCHITZLR_WEIGHTS(SparseView<float>);
LIPSCHITZLR_WEIGHTS(SparseView<double>);
LIPSCHITZLR_WEIGHTS(StreamedRows<double>);

}  // namespace lipschitzlr::bound

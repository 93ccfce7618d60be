#include "lipschitzlr/bound/weights.hpp"

#include <fmt/format.h>

#include <limits>

#include "bound/rows.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

struct Columns {
  Vector<double> sum;
  Vector<double> largest;
};

Columns no_rows(Index columns) {
  return {Vector<double>::Zero(columns), Vector<double>::Constant(columns, -std::numeric_limits<double>::infinity())};
}

// Sums are continued from process to process, so that K has the bits of one.
template <class Scalar>
void add(const DenseView<Scalar>& matrix, Columns& columns) {
  for (Index row = 0; row < matrix.rows(); ++row) {
    const auto values = matrix.row(row).transpose().template cast<double>();
    columns.sum += values;
    columns.largest = columns.largest.cwiseMax(values);
  }
}

template <class Scalar>
void add(const DenseMatrix<Scalar>& matrix, Columns& columns) {
  add(DenseView<Scalar>(matrix.data(), matrix.rows(), matrix.cols()), columns);
}

void add(const StreamedRows<double>& rows, Columns& columns) {
  rows.for_each_block([&](Index, const DenseView<double>& block) { add(block, columns); });
}

template <class Scalar>
void add(const SparseView<Scalar>& matrix, Columns& columns) {
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
}

template <class Scalar>
void add(const SparseMatrix<Scalar>& matrix, Columns& columns) {
  add(SparseView<Scalar>(matrix.rows(), matrix.cols(), matrix.nonZeros(), matrix.outerIndexPtr(),
                         matrix.innerIndexPtr(), matrix.valuePtr(), matrix.innerNonZeroPtr()),
      columns);
}

template <class Matrix>
Columns summarise(const Matrix& matrix, Communicator* communicator) {
  if constexpr (std::is_same_v<Matrix, StreamedRows<double>>) {
    if (communicator == nullptr) {
      const ColumnSums& sums = matrix.column_sums();
      return {sums.sum.matrix().transpose(), sums.high.matrix().transpose()};
    }
  }
  Columns columns = no_rows(matrix.cols());
  in_turn(communicator, {columns.sum.data(), static_cast<std::size_t>(columns.sum.size())},
          [&] { add(matrix, columns); });
  all_reduce_max(communicator, columns.largest);
  return columns;
}

}  // namespace

template <class Matrix>
double weight_bound_estimate(const Matrix& raw_features, Communicator* communicator) {
  const double rows = all_reduce_sum(communicator, static_cast<double>(raw_features.rows()));
  if (rows == 0 || raw_features.cols() == 0) {
    throw Error(Fault::data, fmt::format("the weight bound K needs at least one row and one column, but there are {} "
                                         "rows and {} columns",
                                         rows, raw_features.cols()));
  }
  const Columns columns = summarise(raw_features, communicator);
  const double a = columns.sum.cwiseAbs().sum() / rows;
  const double b = columns.largest.mean();
  return (a + b) / 2;
}

#define LIPSCHITZLR_WEIGHTS(Matrix) template double weight_bound_estimate(const Matrix&, Communicator*)
LIPSCHITZLR_FOR_EACH_MATRIX(LIPSCHITZLR_WEIGHTS);
LIPSCHITZLR_WEIGHTS(DenseView<float>);
LIPSCHITZLR_WEIGHTS(DenseView<double>);
LIPSCHITZLR_WEIGHTS(SparseView<float>);
LIPSCHITZLR_WEIGHTS(SparseView<double>);
LIPSCHITZLR_WEIGHTS(StreamedRows<double>);

}  // namespace lipschitzlr::bound

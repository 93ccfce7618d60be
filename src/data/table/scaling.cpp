#include "lipschitzlr/data/table/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

using Row = Eigen::Array<double, 1, Eigen::Dynamic>;

// Per column; the mean is corrected by the mean of what it leaves over, which removes the rounding of a long sum.
struct Summary {
  Row mean, deviation, magnitude, low, high;
};

Summary summarise(const DenseMatrix<double>& matrix) {
  const auto rows = static_cast<double>(matrix.rows());
  Summary summary;
  summary.mean = matrix.colwise().sum().array() / rows;
  summary.magnitude = matrix.cwiseAbs().colwise().sum().array();
  summary.low = matrix.colwise().minCoeff().array();
  summary.high = matrix.colwise().maxCoeff().array();
  Row left = Row::Zero(matrix.cols()), squares = left;
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Row difference = matrix.row(row).array() - summary.mean;
    left += difference;
    squares += difference.square();
  }
  left /= rows;
  summary.mean += left;
  summary.deviation = (squares / rows - left.square()).max(0).sqrt();
  return summary;
}

Summary summarise(const SparseMatrix<double>& matrix) {
  const auto rows = static_cast<double>(matrix.rows());
  Row sum = Row::Zero(matrix.cols()), stored = sum;
  Summary summary{sum, sum, sum, sum, sum};
  const auto each_cell = [&](auto&& visit) {
    for (Index row = 0; row < matrix.rows(); ++row) {
      for (SparseMatrix<double>::InnerIterator cell(matrix, row); cell; ++cell) visit(cell.col(), cell.value());
    }
  };
  summary.low.setConstant(std::numeric_limits<double>::infinity());
  summary.high = -summary.low;
  each_cell([&](Index column, double value) {
    sum(column) += value;
    stored(column) += 1;
    summary.magnitude(column) += std::abs(value);
    summary.low(column) = std::min(summary.low(column), value);
    summary.high(column) = std::max(summary.high(column), value);
  });
  summary.mean = sum / rows;
  const Row empty = rows - stored;
  summary.low = (empty > 0).select(summary.low.min(0), summary.low);
  summary.high = (empty > 0).select(summary.high.max(0), summary.high);
  Row left = -empty * summary.mean, squares = empty * summary.mean.square();
  each_cell([&](Index column, double value) {
    const double difference = value - summary.mean(column);
    left(column) += difference;
    squares(column) += difference * difference;
  });
  left /= rows;
  summary.mean += left;
  summary.deviation = (squares / rows - left.square()).max(0).sqrt();
  return summary;
}

// A power of two for each column whose squares would overflow or underflow, 1 for the others: no bit of a number is
// lost by it.
Row safe_units(const Row& low, const Row& high) {
  return low.abs().max(high.abs()).unaryExpr([](double size) {
    constexpr double kSafe = 1e100;
    if (size == 0 || (size < kSafe && size > 1 / kSafe)) return 1.0;
    return std::ldexp(1.0, -std::clamp(std::ilogb(size), -1000, 1000));
  });
}

template <class Matrix>
Summary summarise_safely(const Matrix& matrix) {
  Summary summary = summarise(matrix);
  const Row units = safe_units(summary.low, summary.high);
  if ((units == 1).all()) return summary;
  summary = summarise(Matrix(matrix * units.matrix().asDiagonal()));
  for (Row* row : {&summary.mean, &summary.deviation, &summary.magnitude, &summary.low, &summary.high}) *row /= units;
  return summary;
}

// Of a width or deviation; 1 when there is none.
double inverse(double x) { return x > 0 ? std::min(1 / x, std::numeric_limits<double>::max()) : 1; }

std::string column_name(const std::vector<std::string>& names, Index column) {
  const auto index = static_cast<std::size_t>(column);
  return index < names.size() ? fmt::format("column {} (\"{}\")", column + 1, names[index])
                              : fmt::format("column {}", column + 1);
}

double sum_factor(const Summary& summary, Index column, Index rows, const std::vector<std::string>& names) {
  const double sum = summary.mean(column) * static_cast<double>(rows);
  const double magnitude = summary.magnitude(column);
  if (magnitude == 0) return 1;
  // A sum within the rounding of its terms is a zero that was missed.
  if (std::abs(sum) <= static_cast<double>(rows) * std::numeric_limits<double>::epsilon() * magnitude) {
    throw Error(Fault::data, fmt::format("{} sums to zero and can't be divided by its sum; choose the scaling standard "
                                         "or minmax instead of sum",
                                         column_name(names, column)));
  }
  if (!std::isfinite(sum) || !std::isfinite(1 / sum)) {
    throw Error(Fault::data,
                fmt::format("{} sums to {}, by which nothing can be divided; choose the scaling standard or "
                            "minmax instead of sum",
                            column_name(names, column), sum));
  }
  return 1 / sum;
}

void refuse_offsets(const std::vector<double>& offsets, Scaling kind) {
  for (double offset : offsets) {
    if (offset == 0) continue;
    throw Error(Fault::usage, fmt::format("the scaling {} shifts columns and would fill every empty cell of sparse "
                                          "data; choose the scaling sum or none",
                                          to_string(kind)));
  }
}

void check_columns(Index have, Index want) {
  if (have == want) return;
  throw Error(Fault::data, fmt::format("the rows have {} feature columns, but the scaling was learned on {}; give rows "
                                       "with the same columns as in training",
                                       have, want));
}

constexpr Index kRowsPerTask = 4096;

// Calls task(first row, last row) for all rows, on the pool's threads when there is one.
template <class Task>
void for_rows(Index rows, ThreadPool* pool, const Task& task) {
  if (pool == nullptr || rows <= kRowsPerTask) return task(Index{0}, rows);
  pool->run(static_cast<std::size_t>((rows + kRowsPerTask - 1) / kRowsPerTask), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * kRowsPerTask;
    task(first, std::min(rows, first + kRowsPerTask));
  });
}

// Scales the features into the first columns and writes the intercept, when asked for, into the last.
template <class Scalar>
DenseMatrix<Scalar> scale(const Scaler& scaler, const DenseMatrix<double>& rows, bool intercept, ThreadPool* pool) {
  check_columns(rows.cols(), scaler.features());
  const Index columns = rows.cols();
  const Eigen::Map<const Row> offsets(scaler.offsets.data(), columns), factors(scaler.factors.data(), columns);
  DenseMatrix<Scalar> scaled(rows.rows(), columns + (intercept ? 1 : 0));
  for_rows(rows.rows(), pool, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      scaled.row(row).head(columns) = ((rows.row(row).array() - offsets) * factors).matrix().template cast<Scalar>();
      if (intercept) scaled(row, columns) = static_cast<Scalar>(scaler.factors.back());
    }
  });
  return scaled;
}

template <class Scalar>
SparseMatrix<Scalar> scale(const Scaler& scaler, const SparseMatrix<double>& rows, bool intercept, ThreadPool* pool) {
  check_columns(rows.cols(), scaler.features());
  refuse_offsets(scaler.offsets, scaler.kind);
  const auto* const starts = rows.outerIndexPtr();
  const int more = intercept ? 1 : 0;
  SparseMatrix<Scalar> scaled(rows.rows(), rows.cols() + more);
  scaled.resizeNonZeros(rows.nonZeros() + more * rows.rows());
  for (Index row = 0; row <= rows.rows(); ++row) {
    scaled.outerIndexPtr()[row] = starts[row] + more * static_cast<int>(row);
  }
  for_rows(rows.rows(), pool, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      auto to = scaled.outerIndexPtr()[row];
      for (auto from = starts[row]; from < starts[row + 1]; ++from, ++to) {
        const auto column = rows.innerIndexPtr()[from];
        scaled.innerIndexPtr()[to] = column;
        scaled.valuePtr()[to] =
            static_cast<Scalar>(rows.valuePtr()[from] * scaler.factors[static_cast<std::size_t>(column)]);
      }
      if (!intercept) continue;
      scaled.innerIndexPtr()[to] = static_cast<int>(rows.cols());
      scaled.valuePtr()[to] = static_cast<Scalar>(scaler.factors.back());
    }
  });
  return scaled;
}

}  // namespace

std::string to_string(Scaling scaling) {
  switch (scaling) {
    case Scaling::none:
      return "none";
    case Scaling::column_sum:
      return "sum";
    case Scaling::standard:
      return "standard";
    case Scaling::min_max:
      return "minmax";
  }
  return "none";
}

Scaling scaling_from(const std::string& name) {
  for (Scaling scaling : {Scaling::none, Scaling::column_sum, Scaling::standard, Scaling::min_max}) {
    if (to_string(scaling) == name) return scaling;
  }
  throw Error(Fault::usage, fmt::format("there is no scaling \"{}\"; choose none, sum, standard or minmax", name));
}

Scaler Scaler::learn(Scaling scaling, const Features& training, bool intercept, const std::vector<std::string>& names) {
  const Index rows = data::rows(training), columns = data::columns(training);
  if (rows == 0) throw Error(Fault::data, "the scaling can't be learned: there are no training rows");
  Scaler scaler{scaling, intercept, std::vector<double>(static_cast<std::size_t>(columns), 0.0),
                std::vector<double>(static_cast<std::size_t>(columns), 1.0)};
  if (scaling != Scaling::none && columns > 0) {
    const Summary summary = std::visit([](const auto& matrix) { return summarise_safely(matrix); }, training);
    for (Index column = 0; column < columns; ++column) {
      double& offset = scaler.offsets[static_cast<std::size_t>(column)];
      double& factor = scaler.factors[static_cast<std::size_t>(column)];
      const double width = summary.high(column) - summary.low(column);
      if (!std::isfinite(width)) {
        throw Error(Fault::data,
                    fmt::format("{} reaches from {} to {}, further than a number can; divide it by a power "
                                "of ten",
                                column_name(names, column), summary.low(column), summary.high(column)));
      }
      if (scaling == Scaling::column_sum) factor = sum_factor(summary, column, rows, names);
      if (scaling == Scaling::min_max) offset = summary.low(column);
      // A constant column's mean may be off by a rounding; its only value is not.
      if (scaling == Scaling::standard) offset = width == 0 ? summary.low(column) : summary.mean(column);
      if (scaling == Scaling::min_max) factor = inverse(width);
      if (scaling == Scaling::standard && width > 0) factor = inverse(summary.deviation(column));
    }
  }
  if (std::holds_alternative<SparseMatrix<double>>(training)) refuse_offsets(scaler.offsets, scaling);
  if (intercept) {
    scaler.offsets.push_back(0);
    scaler.factors.push_back(scaling == Scaling::column_sum ? 1 / static_cast<double>(rows) : 1);
  }
  return scaler;
}

Features Scaler::apply(const Features& rows) const {
  return std::visit([&](const auto& matrix) { return Features(scale<double>(*this, matrix, false, nullptr)); }, rows);
}

template <class Scalar>
DenseMatrix<Scalar> Scaler::design(const DenseMatrix<double>& rows, ThreadPool* pool) const {
  return scale<Scalar>(*this, rows, intercept, pool);
}

template <class Scalar>
SparseMatrix<Scalar> Scaler::design(const SparseMatrix<double>& rows, ThreadPool* pool) const {
  return scale<Scalar>(*this, rows, intercept, pool);
}

template DenseMatrix<float> Scaler::design(const DenseMatrix<double>&, ThreadPool*) const;
template DenseMatrix<double> Scaler::design(const DenseMatrix<double>&, ThreadPool*) const;
template SparseMatrix<float> Scaler::design(const SparseMatrix<double>&, ThreadPool*) const;
template SparseMatrix<double> Scaler::design(const SparseMatrix<double>&, ThreadPool*) const;

}  // namespace lipschitzlr::data

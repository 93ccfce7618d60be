#include "capi/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::capi {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 48;

void expect_usable(bool holds, const std::string& sentence) {
  if (!holds) throw Error(Fault::usage, sentence);
}

[[noreturn]] void refuse_number(Index row, Index column, double value) {
  throw Error(Fault::data, fmt::format("row {}, column {} of the features is {}: it must be a finite number", row + 1,
                                       column + 1, std::isnan(value) ? "NaN" : "infinite (inf)"));
}

// 0 times a finite number is 0, and anything else is NaN, which no sum loses: Eigen vectorises that.
template <class Values>
bool all_finite(const Values& values) {
  return (values.array() * 0).sum() == 0;
}

template <class Scalar>
void check_finite(const DenseView<Scalar>& view) {
  for (Index row = 0; row < view.rows(); ++row) {
    if (all_finite(view.row(row))) continue;
    for (Index column = 0; column < view.cols(); ++column) {
      const auto value = static_cast<double>(view(row, column));
      if (!std::isfinite(value)) refuse_number(row, column, value);
    }
  }
}

template <class Scalar>
void check_finite(const SparseView<Scalar>& view) {
  using Stored = Eigen::Map<const Vector<Scalar>>;
  if (view.nonZeros() == 0 || all_finite(Stored(view.valuePtr(), view.nonZeros()))) return;
  for (Index row = 0; row < view.rows(); ++row) {
    for (typename SparseView<Scalar>::InnerIterator cell(view, row); cell; ++cell) {
      const auto value = static_cast<double>(cell.value());
      if (!std::isfinite(value)) refuse_number(row, cell.col(), value);
    }
  }
}

// Everything that reads the matrix relies on this.
void check_places(const lipschitzlr_matrix& matrix) {
  expect_usable(matrix.row_starts[0] == 0, "the first row of a sparse matrix must start at 0");
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    expect_usable(matrix.row_starts[row + 1] >= matrix.row_starts[row],
                  fmt::format("row {} of the sparse matrix ends before it starts", row + 1));
  }
  expect_usable(matrix.rows < std::numeric_limits<std::int32_t>::max() - matrix.row_starts[matrix.rows],
                "a sparse matrix can have up to 2^31 - 1 stored values and rows together");
  expect_usable(matrix.row_starts[matrix.rows] == 0 || (matrix.values != nullptr && matrix.column_numbers != nullptr),
                "a sparse matrix with stored values needs values and column_numbers");
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::int64_t least = 0;
    for (std::int32_t cell = matrix.row_starts[row]; cell < matrix.row_starts[row + 1]; ++cell) {
      const std::int64_t column = matrix.column_numbers[cell];
      if (column < least || column >= matrix.columns) {
        throw Error(Fault::data, fmt::format("row {}: column {} is out of order, repeated or past the last column",
                                             row + 1, column + 1));
      }
      least = column + 1;
    }
  }
}

template <class Scalar>
data::FeatureView checked_view(const lipschitzlr_matrix& matrix) {
  const auto* values = static_cast<const Scalar*>(matrix.values);
  if (matrix.row_starts == nullptr) {
    const DenseView<Scalar> view(values, matrix.rows, matrix.columns);
    check_finite(view);
    return view;
  }
  check_places(matrix);
  const SparseView<Scalar> view(matrix.rows, matrix.columns, matrix.row_starts[matrix.rows], matrix.row_starts,
                                matrix.column_numbers, values);
  check_finite(view);
  return view;
}

template <class Scalar>
data::FeatureView middle(const DenseView<Scalar>& view, Index first, Index count) {
  return DenseView<Scalar>(view.data() + first * view.cols(), count, view.cols());
}

// The places stay those of the whole matrix: a view need not begin at 0.
template <class Scalar>
data::FeatureView middle(const SparseView<Scalar>& view, Index first, Index count) {
  const std::int32_t* const starts = view.outerIndexPtr() + first;
  return SparseView<Scalar>(count, view.cols(), starts[count] - starts[0], starts, view.innerIndexPtr(),
                            view.valuePtr());
}

data::FeatureView middle(const StreamedRows<double>& rows, Index first, Index count) {
  std::vector<Index> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return rows.take(numbers);
}

std::vector<std::string> texts(const char* const* given, std::int64_t count, const char* what) {
  expect_usable(given != nullptr, fmt::format("there are no {}", what));
  std::vector<std::string> list;
  for (std::int64_t i = 0; i < count; ++i) {
    expect_usable(given[i] != nullptr, fmt::format("number {} of the {} is missing", i + 1, what));
    list.emplace_back(given[i]);
  }
  expect_usable(std::set(list.begin(), list.end()).size() == list.size(), fmt::format("two {} are the same", what));
  return list;
}

VectorView numbers(const double* given, Index count, const char* what, bool negative) {
  expect_usable(given != nullptr, fmt::format("there are no {}", what));
  const VectorView view(given, count);
  for (Index row = 0; row < count; ++row) {
    if (std::isfinite(view[row]) && (negative || view[row] >= 0)) continue;
    throw Error(Fault::data, fmt::format("row {}: among the {}, {} is not a finite number{}", row + 1, what, view[row],
                                         negative ? "" : " of 0 or more"));
  }
  return view;
}

}  // namespace

data::FeatureView view_of(const lipschitzlr_matrix& matrix) {
  const bool sizes = matrix.rows >= 0 && matrix.columns >= 0;
  expect_usable(sizes && (matrix.columns == 0 || matrix.rows <= kMostValues / matrix.columns),
                fmt::format("a matrix can't have {} rows and {} columns", matrix.rows, matrix.columns));
  expect_usable(matrix.rows > 0 && matrix.columns > 0, fmt::format("the features are {} rows and {} columns: there is "
                                                                   "nothing in them",
                                                                   matrix.rows, matrix.columns));
  expect_usable(matrix.columns < std::numeric_limits<std::int32_t>::max(), "there are too many columns");
  expect_usable(matrix.values != nullptr || matrix.row_starts != nullptr, "the matrix has no values");
  expect_usable(matrix.type == LIPSCHITZLR_FLOAT64 || matrix.type == LIPSCHITZLR_FLOAT32,
                fmt::format("there is no type {} of numbers", matrix.type));
  return matrix.type == LIPSCHITZLR_FLOAT32 ? checked_view<float>(matrix) : checked_view<double>(matrix);
}

bool is_single(const data::FeatureView& features) {
  return std::holds_alternative<DenseView<float>>(features) || std::holds_alternative<SparseView<float>>(features);
}

data::FeatureView middle_rows(const data::FeatureView& features, Index first, Index count) {
  return std::visit([&](const auto& view) { return middle(view, first, count); }, features);
}

Training training_of(const lipschitzlr_rows& rows) {
  const Index count = rows.features.rows, columns = rows.features.columns;
  Training training{view_of(rows.features),       numbers(rows.targets, count, "targets", true), {}, {}, {},
                    rows.feature_names != nullptr};
  expect_usable(rows.classes >= 0, "there can't be fewer than 0 classes");
  if (rows.classes > 0) training.labels = texts(rows.labels, rows.classes, "labels");
  for (Index row = 0; row < count && rows.classes > 0; ++row) {
    const double target = training.target[row];
    if (target >= 0 && target < static_cast<double>(rows.classes) && target == std::floor(target)) continue;
    throw Error(Fault::data, fmt::format("row {}: the target {} is not the index of one of the {} labels", row + 1,
                                         target, rows.classes));
  }
  if (rows.row_weights != nullptr) training.row_weights = numbers(rows.row_weights, count, "weights of rows", false);
  if (training.has_names) {
    training.names = texts(rows.feature_names, columns, "names of features");
  } else {
    for (Index column = 0; column < columns; ++column) training.names.push_back(fmt::format("x{}", column + 1));
  }
  return training;
}

}  // namespace lipschitzlr::capi

#include "lipschitzlr/bound/norms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bound/rows.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

// Four running sums: shorter chains of additions, so that the compiler may use vector instructions.
template <int power, class Scalar>
double sum_of_powers(std::span<const Scalar> values, double factor) {
  const auto term = [factor](Scalar value) {
    const double scaled = factor * static_cast<double>(value), square = scaled * scaled;
    if constexpr (power == 1) return scaled;
    if constexpr (power == 3) return square * scaled;
    return power == 2 ? square : square * square;
  };
  std::array<double, 4> sums{};
  const std::size_t whole = values.size() / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += term(values[i + lane]);
  }
  for (std::size_t i = whole; i < values.size(); ++i) sums[0] += term(values[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <int power, class Matrix>
double sum_over_rows(const Matrix& matrix, double factor) {
  double sum = 0;
  for_each_row(matrix, [&](Index, const auto& values) { sum += sum_of_powers<power>(values, factor); });
  return sum;
}

template <class Matrix, class Scalar>
void add_row(const Matrix&, Index, std::span<const Scalar> values, double factor, Vector<double>& sum) {
  double* out = sum.data();
  for (std::size_t j = 0; j < values.size(); ++j) out[j] += factor * static_cast<double>(values[j]);
}

template <class Scalar>
void add_row(const SparseMatrix<Scalar>& matrix, Index row, std::span<const Scalar> values, double factor,
             Vector<double>& sum) {
  const auto columns = row_columns(matrix, row);
  for (std::size_t j = 0; j < values.size(); ++j) sum[columns[j]] += factor * static_cast<double>(values[j]);
}

}  // namespace

template <class Matrix>
double frobenius_norm(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  return scale * std::sqrt(all_reduce_sum(communicator, sum_over_rows<2>(matrix, 1 / scale)));
}

template <class Matrix>
double row_norm_sum(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  double sum = 0;
  for_each_row(matrix, [&](Index, const auto& values) { sum += std::sqrt(sum_of_powers<2>(values, 1 / scale)); });
  return scale * all_reduce_sum(communicator, sum);
}

template <class Matrix>
double row_norm_max(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  double largest = 0;
  for_each_row(matrix, [&](Index, const auto& values) {
    const double sum = sum_of_powers<2>(values, 1 / scale);
    largest = std::isnan(sum) ? sum : std::max(largest, sum);  // which keeps a NaN that it has
  });
  return scale * std::sqrt(all_reduce_max(communicator, largest));
}

template <class Matrix>
double square_frobenius_norm(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  return scale * std::sqrt(all_reduce_sum(communicator, sum_over_rows<4>(matrix, 1 / scale))) * scale;
}

template <class Matrix>
double entry_sum(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  return scale * all_reduce_sum(communicator, sum_over_rows<1>(matrix, 1 / scale));
}

template <class Matrix>
double entry_cube_sum(const Matrix& matrix, Communicator* communicator) {
  const double scale = safe_scale(matrix, communicator);
  return scale * scale * all_reduce_sum(communicator, sum_over_rows<3>(matrix, 1 / scale)) * scale;
}

template <class Matrix>
double target_product_norm(const Matrix& matrix, const Vector<typename Matrix::Scalar>& y, Communicator* communicator) {
  if (y.size() != matrix.rows()) {
    throw Error(Fault::usage, fmt::format("||y'X|| needs one target per row, but there are {} targets and {} rows",
                                          y.size(), matrix.rows()));
  }
  const double matrix_scale = safe_scale(matrix, communicator);
  const double target_scale = safe_scale<DenseMatrix<typename Matrix::Scalar>>(y, communicator);
  Vector<double> product = Vector<double>::Zero(matrix.cols());
  for_each_row(matrix, [&](Index row, const auto& values) {
    add_row(matrix, row, values, static_cast<double>(y[row]) / target_scale / matrix_scale, product);
  });
  all_reduce_sum(communicator, product);
  return frobenius_norm<DenseMatrix<double>>(product) * matrix_scale * target_scale;
}

#define LIPSCHITZLR_NORMS(Matrix)                                      \
  template double frobenius_norm(const Matrix&, Communicator*);        \
  template double row_norm_sum(const Matrix&, Communicator*);          \
  template double row_norm_max(const Matrix&, Communicator*);          \
  template double square_frobenius_norm(const Matrix&, Communicator*); \
  template double entry_sum(const Matrix&, Communicator*);             \
  template double entry_cube_sum(const Matrix&, Communicator*);        \
  template double target_product_norm(const Matrix&, const Vector<Matrix::Scalar>&, Communicator*)
LIPSCHITZLR_FOR_EACH_SOURCE(LIPSCHITZLR_NORMS);

}  // namespace lipschitzlr::bound

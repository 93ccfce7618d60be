#include "lipschitzlr/bound/norms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::bound {
namespace {

// Whole numbers are the same in float and double, so all four kinds of matrix must give the same norms.
DenseMatrix<double> whole_numbers(Index rows, Index columns, double share) {
  Random random(7);
  DenseMatrix<double> matrix = DenseMatrix<double>::Zero(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (random.uniform() < share) matrix(i, j) = static_cast<double>(random.below(41)) - 20;
    }
  }
  return matrix;
}

template <class Matrix>
Matrix converted(const DenseMatrix<double>& dense) {
  using Scalar = typename Matrix::Scalar;
  const DenseMatrix<Scalar> cast = dense.cast<Scalar>();
  if constexpr (std::is_same_v<Matrix, DenseMatrix<Scalar>>) {
    return cast;
  } else {
    return cast.sparseView();
  }
}

template <class Matrix>
class Norms : public testing::Test {};
using Matrices = testing::Types<DenseMatrix<float>, DenseMatrix<double>, SparseMatrix<float>, SparseMatrix<double>>;
TYPED_TEST_SUITE(Norms, Matrices);

TYPED_TEST(Norms, AgreeWithPlainSums) {
  for (const auto& [rows, columns] : {std::pair{30, 7}, {7, 30}, {1, 5}, {5, 1}, {600, 3}, {3, 1100}}) {
    const DenseMatrix<double> x = whole_numbers(rows, columns, 0.4);
    const TypeParam matrix = converted<TypeParam>(x);
    long double squares = 0, fourth = 0, row_sum = 0, row_max = 0, gram = 0;
    for (Index i = 0; i < rows; ++i) {
      long double row = 0;
      for (Index j = 0; j < columns; ++j) {
        row += x(i, j) * x(i, j);
        fourth += std::pow(x(i, j), 4);
      }
      squares += row;
      row_sum += std::sqrt(row);
      row_max = std::max(row_max, std::sqrt(row));
    }
    for (Index j = 0; j < columns; ++j) {
      for (Index k = 0; k < columns; ++k) {
        long double entry = 0;
        for (Index i = 0; i < rows; ++i) entry += x(i, j) * x(i, k);
        gram += entry * entry;
      }
    }
    const auto near = [](double value, long double expected) {
      EXPECT_NEAR(value, static_cast<double>(expected), 1e-13 * static_cast<double>(expected));
    };
    near(frobenius_norm(matrix), std::sqrt(squares));
    near(square_frobenius_norm(matrix), std::sqrt(fourth));
    near(row_norm_sum(matrix), row_sum);
    near(row_norm_max(matrix), row_max);
    near(gram_frobenius_norm(matrix), std::sqrt(gram));
  }
}

TYPED_TEST(Norms, HandComputed) {
  const TypeParam matrix = converted<TypeParam>(DenseMatrix<double>{{3, 4}, {0, 0}, {-5, 12}});
  EXPECT_DOUBLE_EQ(frobenius_norm(matrix), std::sqrt(194.0));
  EXPECT_DOUBLE_EQ(row_norm_sum(matrix), 18);
  EXPECT_DOUBLE_EQ(row_norm_max(matrix), 13);
  EXPECT_DOUBLE_EQ(square_frobenius_norm(matrix), std::sqrt(81.0 + 256 + 625 + 20736));
  // X'X = [[34, -48], [-48, 160]]
  EXPECT_DOUBLE_EQ(gram_frobenius_norm(matrix), std::sqrt(34.0 * 34 + 2 * 48.0 * 48 + 160.0 * 160));
  // y'X = (2*3 + 1*-5, 2*4 + 12) = (1, 20)
  const Vector<typename TypeParam::Scalar> y{{2, 9, 1}};
  EXPECT_DOUBLE_EQ(target_product_norm(matrix, y), std::sqrt(401.0));
}

TYPED_TEST(Norms, EmptyAndZeroMatricesHaveNormZero) {
  for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 3}, {3, 0}, {4, 2}}) {
    const TypeParam matrix = converted<TypeParam>(DenseMatrix<double>::Zero(rows, columns));
    EXPECT_EQ(frobenius_norm(matrix), 0);
    EXPECT_EQ(row_norm_sum(matrix), 0);
    EXPECT_EQ(row_norm_max(matrix), 0);
    EXPECT_EQ(square_frobenius_norm(matrix), 0);
    EXPECT_EQ(gram_frobenius_norm(matrix), 0);
  }
}

TYPED_TEST(Norms, ExtremeEntriesNeitherOverflowNorVanish) {
  using Scalar = typename TypeParam::Scalar;
  for (const double size : {1e-30, 1e30, std::is_same_v<Scalar, double> ? 1e150 : 1e38}) {
    const double entry = static_cast<double>(static_cast<Scalar>(size));
    TypeParam matrix = converted<TypeParam>(DenseMatrix<double>{{3, -4}, {0, 12}});
    matrix *= static_cast<Scalar>(size) / 16;
    const double unit = entry / 16;
    EXPECT_NEAR(frobenius_norm(matrix) / unit, 13, 1e-5);
    EXPECT_NEAR(row_norm_sum(matrix) / unit, 17, 1e-5);
    EXPECT_NEAR(row_norm_max(matrix) / unit, 12, 1e-5);
    EXPECT_NEAR(std::sqrt(square_frobenius_norm(matrix)) / unit, std::pow(81.0 + 256 + 20736, 0.25), 1e-5);
    // X'X = [[9, -12], [-12, 160]]
    EXPECT_NEAR(std::sqrt(gram_frobenius_norm(matrix)) / unit, std::pow(81.0 + 288 + 25600, 0.25), 1e-4);
    EXPECT_NEAR(spectral_norm(matrix).value / unit, std::sqrt((169 + std::sqrt(151.0 * 151 + 4 * 144)) / 2), 1e-4);
  }
}

TYPED_TEST(Norms, WhatIsNotANumberStaysVisible) {
  using Scalar = typename TypeParam::Scalar;
  for (const Scalar bad : {std::numeric_limits<Scalar>::quiet_NaN(), std::numeric_limits<Scalar>::infinity()}) {
    TypeParam matrix = converted<TypeParam>(DenseMatrix<double>::Ones(3, 2));
    matrix.coeffRef(1, 1) = bad;
    EXPECT_FALSE(std::isfinite(frobenius_norm(matrix)));
    EXPECT_FALSE(std::isfinite(row_norm_sum(matrix)));
    EXPECT_FALSE(std::isfinite(row_norm_max(matrix)));
    EXPECT_FALSE(std::isfinite(gram_frobenius_norm(matrix)));
    EXPECT_FALSE(std::isfinite(spectral_norm(matrix).value));
    EXPECT_FALSE(spectral_norm(matrix).converged);
  }
}

TYPED_TEST(Norms, TargetsMustFitTheRows) {
  const TypeParam matrix = converted<TypeParam>(DenseMatrix<double>::Ones(3, 2));
  const Vector<typename TypeParam::Scalar> y = Vector<typename TypeParam::Scalar>::Ones(2);
  EXPECT_THROW(target_product_norm(matrix, y), Error);
}

TEST(Norms, ASinglePrecisionMatrixIsSummedInDouble) {
  // Summed in single precision, a million equal squares lose several per cent.
  const DenseMatrix<float> matrix = DenseMatrix<float>::Constant(1000, 1000, 0.1F);
  EXPECT_NEAR(frobenius_norm(matrix), 1000 * static_cast<double>(0.1F), 1e-10);
  EXPECT_NEAR(gram_frobenius_norm(matrix), 1e6 * static_cast<double>(0.1F) * static_cast<double>(0.1F), 1e-8);
}

TEST(Norms, AnUncompressedSparseMatrixIsReadCorrectly) {
  SparseMatrix<double> matrix(3, 4);
  matrix.reserve(Eigen::VectorXi::Constant(3, 4));
  matrix.insert(0, 1) = 3;
  matrix.insert(2, 3) = 4;
  ASSERT_FALSE(matrix.isCompressed());
  EXPECT_DOUBLE_EQ(frobenius_norm(matrix), 5);
  EXPECT_DOUBLE_EQ(gram_frobenius_norm(matrix), std::sqrt(81.0 + 256));
  EXPECT_NEAR(spectral_norm(matrix).value, 4, 1e-9);
}

TEST(Norms, AWideSparseMatrixNeedsNoSquareOfItsWidth) {
  // The 2,000,000 x 2,000,000 product would take 32 TB.
  const Index columns = 2000000;
  SparseMatrix<double> matrix(3, columns);
  matrix.insert(0, 0) = 1;
  matrix.insert(0, columns - 1) = 2;
  matrix.insert(1, columns - 1) = 3;
  matrix.insert(2, 1000) = 5;
  matrix.makeCompressed();
  // XX' = [[5, 6, 0], [6, 9, 0], [0, 0, 25]]
  EXPECT_DOUBLE_EQ(gram_frobenius_norm(matrix), std::sqrt(25.0 + 72 + 81 + 625));
  EXPECT_NEAR(spectral_norm(matrix).value, 5, 1e-9);
}

}  // namespace
}  // namespace lipschitzlr::bound

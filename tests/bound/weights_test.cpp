#include "lipschitzlr/bound/weights.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

TEST(WeightBound, HandComputedForAllKindsOfMatrix) {
  // Means 2, -3, 0.5, 0; maxima 4, -1, 1, 0: a = 5.5, b = 1, K = 3.25.
  const DenseMatrix<double> matrix{{0, -1, 1, 0}, {4, -5, 0, 0}};
  EXPECT_DOUBLE_EQ(weight_bound_estimate(matrix), 3.25);
  EXPECT_DOUBLE_EQ(weight_bound_estimate(DenseMatrix<float>(matrix.cast<float>())), 3.25);
  EXPECT_DOUBLE_EQ(weight_bound_estimate(DenseView<double>(matrix.data(), matrix.rows(), matrix.cols())), 3.25);
  EXPECT_DOUBLE_EQ(weight_bound_estimate(SparseMatrix<double>(matrix.sparseView())), 3.25);
  EXPECT_DOUBLE_EQ(weight_bound_estimate(SparseMatrix<float>(matrix.cast<float>().sparseView())), 3.25);
}

TEST(WeightBound, AZeroThatIsNotStoredIsTheLargestOfANegativeColumn) {
  const DenseMatrix<double> matrix{{-2}, {0}};  // mean -1, maximum 0
  EXPECT_DOUBLE_EQ(weight_bound_estimate(SparseMatrix<double>(matrix.sparseView())), 0.5);
}

TEST(WeightBound, IsNeverNegative) {
  EXPECT_DOUBLE_EQ(weight_bound_estimate(DenseMatrix<double>{{-3}, {-3}}), 0);
  EXPECT_DOUBLE_EQ(weight_bound_estimate(DenseMatrix<double>{{-3, -5}}), 2);  // a = 8, b = -4
}

TEST(WeightBound, AnEmptyTableIsAnError) {
  EXPECT_THROW(weight_bound_estimate(DenseMatrix<double>(0, 3)), Error);
  EXPECT_THROW(weight_bound_estimate(SparseMatrix<double>(3, 0)), Error);
}

}  // namespace
}  // namespace lipschitzlr::bound

#include "lipschitzlr/nn/penultimate.hpp"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::nn {
namespace {

template <class Scalar>
DenseMatrix<Scalar> random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  DenseMatrix<Scalar> matrix(rows, columns);
  for (Scalar& value : matrix.reshaped()) value = static_cast<Scalar>(3 * random.normal());
  return matrix;
}

template <class Scalar>
at::Tensor as_tensor(DenseMatrix<Scalar>& matrix) {
  return at::from_blob(matrix.data(), {matrix.rows(), matrix.cols()}, c10::CppTypeToScalarType<Scalar>::value);
}

PenultimateNorms by_plain_loops(const at::Tensor& activations) {
  PenultimateNorms norms;
  double squares = 0, fourth_powers = 0;
  for (std::int64_t i = 0; i < activations.size(0); ++i) {
    double row = 0;
    for (std::int64_t j = 0; j < activations.size(1); ++j) {
      const double value = activations[i][j].item<double>();
      row += value * value;
      norms.sum += value;
      norms.cube_sum += value * value * value;
      fourth_powers += std::pow(value, 4);
    }
    squares += row;
    norms.row_norm_sum += std::sqrt(row);
  }
  norms.frobenius = std::sqrt(squares);
  norms.square_frobenius = std::sqrt(fourth_powers);
  norms.rows = activations.size(0);
  norms.columns = activations.size(1);
  return norms;
}

void require_equal(const PenultimateNorms& measured, const PenultimateNorms& expected) {
  EXPECT_NEAR(measured.frobenius, expected.frobenius, 1e-12 * expected.frobenius);
  EXPECT_NEAR(measured.row_norm_sum, expected.row_norm_sum, 1e-12 * expected.row_norm_sum);
  EXPECT_NEAR(measured.square_frobenius, expected.square_frobenius, 1e-12 * expected.square_frobenius);
  EXPECT_EQ(measured.rows, expected.rows);
  EXPECT_NEAR(measured.sum, expected.sum, 1e-11 * expected.row_norm_sum);
  EXPECT_NEAR(measured.cube_sum, expected.cube_sum, 1e-10 * expected.square_frobenius);
  EXPECT_EQ(measured.columns, expected.columns);
}

template <class Scalar>
class Penultimate : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Penultimate, Scalars);

TYPED_TEST(Penultimate, AgreesWithPlainLoops) {
  DenseMatrix<TypeParam> matrix = random_matrix<TypeParam>(32, 10, 1);
  require_equal(measure_penultimate(as_tensor(matrix)), by_plain_loops(as_tensor(matrix)));
}

TYPED_TEST(Penultimate, AgreesWithTheNormsOfTheCore) {
  DenseMatrix<TypeParam> matrix = random_matrix<TypeParam>(128, 64, 2);
  const PenultimateNorms core{bound::frobenius_norm(matrix),
                              bound::row_norm_sum(matrix),
                              bound::square_frobenius_norm(matrix),
                              matrix.rows(),
                              bound::entry_sum(matrix),
                              bound::entry_cube_sum(matrix),
                              matrix.cols()};
  require_equal(measure_penultimate(as_tensor(matrix)), core);
}

TYPED_TEST(Penultimate, StridesDoNotMatter) {
  DenseMatrix<TypeParam> matrix = random_matrix<TypeParam>(12, 7, 3);
  const at::Tensor turned = as_tensor(matrix).t();
  require_equal(measure_penultimate(turned), measure_penultimate(turned.contiguous()));
}

TEST(PenultimateEdges, SinglePrecisionSquaresDoNotOverflow) {
  const at::Tensor large = at::full({2, 2}, 1e30, at::kFloat);
  const double value = large[0][0].item<double>();
  const PenultimateNorms norms = measure_penultimate(large);
  EXPECT_NEAR(norms.frobenius, 2 * value, 1e-12 * value);
  EXPECT_NEAR(norms.square_frobenius, 2 * value * value, 1e-12 * value * value);
}

TEST(PenultimateEdges, TheBackwardPassIsLeftAlone) {
  const at::Tensor weights = at::full({2, 3}, 1.5, at::kDouble).requires_grad_(true);
  const at::Tensor activations = weights.mul(2);
  measure_penultimate(activations);
  activations.square().sum().backward();  // d/dw sum (2w)^2 = 8w
  EXPECT_TRUE(at::equal(weights.grad(), at::full({2, 3}, 12.0, at::kDouble)));
}

TEST(PenultimateEdges, WhatIsNotAMatrixOfRealNumbersIsRefused) {
  EXPECT_THROW(measure_penultimate(at::ones({2, 3, 4, 4})), Error);
  EXPECT_THROW(measure_penultimate(at::Tensor()), Error);
  EXPECT_THROW(measure_penultimate(at::ones({2, 3}, at::kLong)), Error);
}

// A = [[3, 4], [0, 0], [6, 8]]: K_z = sqrt(125), the rows have norms 5, 0, 10.
TEST(PenultimateEdges, ConstantsOfASmallBatchByHand) {
  const at::Tensor batch = at::tensor({3.0, 4.0, 0.0, 0.0, 6.0, 8.0}, at::kDouble).reshape({3, 2});
  const PenultimateNorms norms = measure_penultimate(batch);
  using bound::ConstantKind;
  EXPECT_NEAR(cross_entropy(10)(ConstantKind::published, norms).value, 9.0 / 30 * std::sqrt(125.0), 1e-12);
  EXPECT_NEAR(cross_entropy(10)(ConstantKind::certified, norms).value, std::sqrt(2.0) / 3 * 15, 1e-12);
  EXPECT_NEAR(binary_cross_entropy()(ConstantKind::coded, norms).value, std::sqrt(125.0) / 6, 1e-12);
  EXPECT_NEAR(binary_cross_entropy()(ConstantKind::certified, norms).value, 5, 1e-12);
  EXPECT_NEAR(squared_error(2, 1)(ConstantKind::published, norms).value, std::sqrt(125.0), 1e-12);
}

}  // namespace
}  // namespace lipschitzlr::nn

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <Eigen/SVD>

#include "bound/random_matrix.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

// Orthogonal factors around the singular values we want.
DenseMatrix<double> with_singular_values(Index rows, const Vector<double>& values) {
  const Index n = values.size();
  const Eigen::MatrixXd left = Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(rows, n, 1)).householderQ() *
                               Eigen::MatrixXd::Identity(rows, n);
  const Eigen::MatrixXd right = Eigen::HouseholderQR<Eigen::MatrixXd>(random_matrix(n, n, 2)).householderQ();
  return left * values.asDiagonal() * right.transpose();
}

void expect_norm(const DenseMatrix<double>& matrix, double expected) {
  const SpectralNorm norm = spectral_norm(matrix);
  EXPECT_TRUE(norm.converged);
  EXPECT_NEAR(norm.value, expected, 1e-10 * expected);
  EXPECT_LE(norm.value, expected * (1 + 1e-13));
  EXPECT_GE(norm.upper(), expected * (1 - 1e-14));
}

TEST(SpectralNorm, AgreesWithTheSingularValueDecomposition) {
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 2}, {40, 10}, {10, 40}, {200, 70}, {70, 200}}) {
    const DenseMatrix<double> matrix = random_matrix(rows, columns, 3);
    const double expected = Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues()[0];
    expect_norm(matrix, expected);
    const SpectralNorm sparse = spectral_norm(SparseMatrix<double>(matrix.sparseView()));
    EXPECT_NEAR(sparse.value, expected, 1e-10 * expected);
    const DenseMatrix<float> rounded = matrix.cast<float>();
    const double rounded_norm = Eigen::JacobiSVD<Eigen::MatrixXd>(rounded.cast<double>()).singularValues()[0];
    EXPECT_NEAR(spectral_norm(rounded).value, rounded_norm, 1e-10 * rounded_norm);
  }
}

TEST(SpectralNorm, EqualAndNearlyEqualSingularValues) {
  expect_norm(DenseMatrix<double>::Identity(50, 50), 1);
  expect_norm(with_singular_values(30, Vector<double>{{2, 2, 2, 1, 1, 0}}), 2);
  expect_norm(with_singular_values(30, Vector<double>{{2, 2 - 1e-6, 2 - 2e-6, 1, 0.5}}), 2);
  expect_norm(with_singular_values(30, Vector<double>{{2, 2 - 1e-12, 2 - 1e-9, 1, 0.5}}), 2);
}

TEST(SpectralNorm, ASlowSpectrumPassesThroughRestarts) {
  const DenseMatrix<double> matrix = with_singular_values(400, Vector<double>::LinSpaced(300, 1, 0.9));
  const SpectralNorm norm = spectral_norm(matrix);
  EXPECT_TRUE(norm.converged);
  EXPECT_GT(norm.iterations, 64);
  EXPECT_NEAR(norm.value, 1, 1e-10);
}

TEST(SpectralNorm, ZeroAndEmptyMatrices) {
  for (const auto& [rows, columns] : {std::pair{5, 3}, {0, 3}, {3, 0}}) {
    const SpectralNorm norm = spectral_norm(DenseMatrix<double>(DenseMatrix<double>::Zero(rows, columns)));
    EXPECT_EQ(norm.value, 0);
    EXPECT_TRUE(norm.converged);
  }
}

TEST(SpectralNorm, StoppedEarlyItSaysSoAndStaysBelow) {
  const DenseMatrix<double> matrix = with_singular_values(400, Vector<double>::LinSpaced(300, 1, 0.9));
  const SpectralNorm norm = spectral_norm(matrix, {.max_iterations = 3});
  EXPECT_FALSE(norm.converged);
  EXPECT_EQ(norm.iterations, 3);
  EXPECT_LT(norm.value, 1);
  EXPECT_GT(norm.value, 0.9);
  EXPECT_GT(norm.relative_error, 1e-4);
}

TEST(SpectralNorm, TheBitsDoNotDependOnTheThreads) {
  const DenseMatrix<double> matrix = random_matrix(30000, 40, 5);
  const double alone = spectral_norm(matrix).value;
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(spectral_norm(matrix, {.pool = &pool}).value, alone);
    EXPECT_EQ(spectral_norm(SparseMatrix<double>(matrix.sparseView()), {.pool = &pool}).value,
              spectral_norm(SparseMatrix<double>(matrix.sparseView())).value);
  }
}

TEST(SpectralNorm, OptionsThatMakeNoSenseAreRefused) {
  const DenseMatrix<double> matrix = DenseMatrix<double>::Ones(2, 2);
  EXPECT_THROW(spectral_norm(matrix, {.tolerance = 0}), Error);
  EXPECT_THROW(spectral_norm(matrix, {.tolerance = std::nan("")}), Error);
  EXPECT_THROW(spectral_norm(matrix, {.max_iterations = 0}), Error);
}

}  // namespace
}  // namespace lipschitzlr::bound

#include "lipschitzlr/bound/matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>

#include "bound/plain_models.hpp"
#include "bound/random_matrix.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/descent.hpp"

namespace lipschitzlr::bound {
namespace {

using plain::Kind;
using plain::Numbers;
using plain::Problem;

double curvature_of(Kind kind) {
  return kind == Kind::linear     ? kLeastSquaresCurvature
         : kind == Kind::logistic ? kLogisticCurvature
                                  : kSoftmaxCurvature;
}

double penalised(const Problem& problem, const Numbers& w, double lambda) {
  return plain::loss(problem, w) + lambda / 2 * plain::norm(w) * plain::norm(w);
}

TEST(CurvatureMatrix, ItsStepKeepsTheDescentPromiseAtAnyWeights) {
  for (const Kind kind : {Kind::linear, Kind::logistic, Kind::softmax}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const Problem problem = plain::random_problem(kind, seed, 1 + 3 * seed, 1 + seed % 6, 2 + seed % 4);
      const double lambda = seed % 3 == 0 ? 0 : 0.1 * static_cast<double>(seed % 7);
      const Eigen::MatrixXd x = problem.matrix();
      Eigen::MatrixXd matrix = curvature_of(kind) / static_cast<double>(problem.rows()) * x.transpose() * x;
      matrix.diagonal().array() += lambda;
      const CurvatureMatrix curvature(matrix);
      Random random(seed);
      for (int trial = 0; trial < 20; ++trial) {
        Numbers w(problem.weights());
        for (double& weight : w) weight = std::pow(10.0, trial % 4 - 1) * random.normal();
        Numbers g = plain::gradient(problem, w);
        for (std::size_t i = 0; i < w.size(); ++i) g[i] += lambda * w[i];
        const Eigen::MatrixXd gradient = Eigen::Map<const DenseMatrix<double>>(
            g.data(), static_cast<Index>(problem.features()), static_cast<Index>(problem.outputs));
        const DenseMatrix<double> step = curvature.step(gradient);
        Numbers next = w;
        for (std::size_t i = 0; i < w.size(); ++i) next[i] -= step.data()[i];
        const double before = penalised(problem, w, lambda), after = penalised(problem, next, lambda);
        EXPECT_TRUE(descent_holds(before, after, curvature.decrement(gradient) / 2, 1e-9))
            << static_cast<int>(kind) << " " << seed << ": " << before << " -> " << after;
      }
    }
  }
}

TEST(CurvatureMatrix, SolvesWithTheRightCondition) {
  const Eigen::MatrixXd x = random_matrix(30, 6, 1);
  const Eigen::MatrixXd b = x.transpose() * x;
  const CurvatureMatrix curvature(b);
  const Eigen::MatrixXd g = random_matrix(6, 2, 2);
  EXPECT_LT((b * curvature.step(g) - g).norm(), 1e-12);
  EXPECT_NEAR(curvature.decrement(g), (g.transpose() * b.inverse() * g).trace(), 1e-12);
  const Eigen::MatrixXd unit = curvature.scale().asDiagonal() * b * curvature.scale().asDiagonal();
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(unit).eigenvalues();
  EXPECT_GE(curvature.inverse_bound(), 1 / values[0]);
  EXPECT_LE(curvature.inverse_bound(), 6 / values[0]);
  EXPECT_LT(curvature.condition(), 10 * values[5] / values[0]);
  EXPECT_GT(curvature.condition(), 0.1 * values[5] / values[0]);
}

TEST(CurvatureMatrix, ColumnsOfExtremeSizeAreNoProblem) {
  Eigen::MatrixXd x = random_matrix(30, 4, 3);
  const Eigen::Vector4d sizes(1e-12, 1, 1e12, 1e6);
  const CurvatureMatrix plain(x.transpose() * x);
  x = x * sizes.asDiagonal();
  const CurvatureMatrix scaled(x.transpose() * x);
  const Eigen::MatrixXd g = random_matrix(4, 1, 4);
  EXPECT_EQ(scaled.rank(), 4);
  EXPECT_LT((sizes.asDiagonal() * scaled.step(sizes.asDiagonal() * g) - plain.step(g)).norm(), 1e-12);
}

TEST(CurvatureMatrix, CollinearColumnsGiveTheSolutionOfLeastNorm) {
  Eigen::MatrixXd x = random_matrix(30, 4, 5);
  x.col(3) = x.col(0);
  const Eigen::MatrixXd b = x.transpose() * x;
  const CurvatureMatrix curvature(b);
  EXPECT_EQ(curvature.rank(), 3);
  EXPECT_TRUE(std::isinf(curvature.condition()));
  EXPECT_TRUE(std::isinf(curvature.inverse_bound()));
  const Eigen::MatrixXd g = b * random_matrix(4, 1, 6);
  const Eigen::MatrixXd step = curvature.step(g);
  EXPECT_LT((b * step - g).norm(), 1e-9 * g.norm());
  EXPECT_NEAR(step(0), step(3), 1e-9);
  EXPECT_NEAR(curvature.decrement(g), g.cwiseProduct(step).sum(), 1e-9);
  const Eigen::Vector4d unreached(1, 0, 0, -1);
  EXPECT_TRUE(std::isinf(curvature.decrement(unreached)));
}

TEST(CurvatureMatrix, AColumnOfZerosStaysWhereItIs) {
  Eigen::MatrixXd x = random_matrix(10, 3, 7);
  x.col(1).setZero();
  const CurvatureMatrix curvature(x.transpose() * x);
  EXPECT_EQ(curvature.rank(), 2);
  EXPECT_EQ(curvature.step(Eigen::Vector3d(1, 0, 1))(1), 0);
  EXPECT_TRUE(std::isfinite(curvature.decrement(Eigen::Vector3d(1, 0, 1))));
  EXPECT_TRUE(std::isinf(curvature.decrement(Eigen::Vector3d(1, 1, 1))));
}

TEST(CurvatureMatrix, WhatIsNoCurvatureIsRefused) {
  EXPECT_THROW(CurvatureMatrix(Eigen::MatrixXd::Zero(2, 3)), Error);
  EXPECT_THROW(CurvatureMatrix(-Eigen::MatrixXd::Identity(2, 2)), Error);
  EXPECT_THROW(CurvatureMatrix(Eigen::MatrixXd::Constant(1, 1, std::nan(""))), Error);
}

}  // namespace
}  // namespace lipschitzlr::bound

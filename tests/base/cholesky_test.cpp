#include "lipschitzlr/base/cholesky.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <string>

#include "base/isas.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr {
namespace {

using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

Eigen::MatrixXd random_square(Eigen::Index size, std::uint64_t seed) {
  Random random(seed);
  return Eigen::MatrixXd::NullaryExpr(size, size, [&] { return random.normal(); });
}

// Orthogonal vectors times eigenvalues from 1 down to 1 / condition.
Eigen::MatrixXd with_condition(Eigen::Index size, double condition, std::uint64_t seed) {
  const Eigen::MatrixXd q = random_square(size, seed).householderQr().householderQ();
  const Eigen::VectorXd values = Eigen::VectorXd::NullaryExpr(size, [&](Eigen::Index i) {
    return std::pow(condition, -static_cast<double>(i) / static_cast<double>(std::max<Eigen::Index>(1, size - 1)));
  });
  const Eigen::MatrixXd matrix = q * values.asDiagonal() * q.transpose();
  return (matrix + matrix.transpose()) / 2;
}

const Eigen::Index kSizes[] = {1, 2, 7, 8, 9, 24, 25, 60, 97, 193};

TEST(Cholesky, ItsFactorsMultiplyToTheMatrixForEveryInstructionSet) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    for (const Eigen::Index size : kSizes) {
      for (const double condition : {1e2, 1e10}) {
        Eigen::MatrixXd matrix = with_condition(size, condition, 3);
        const Cholesky cholesky(matrix.triangularView<Eigen::Lower>());  // the upper triangle is not read
        ASSERT_TRUE(cholesky.succeeded()) << name << ' ' << size;
        const LongMatrix l = cholesky.lower().cast<long double>();
        EXPECT_EQ(Eigen::MatrixXd(cholesky.lower().triangularView<Eigen::StrictlyUpper>()).norm(), 0);
        // The usual bound of the backward error, (size + 1) u |L||L'|, for each element.
        const LongMatrix error = (l * l.transpose() - matrix.cast<long double>()).cwiseAbs();
        const LongMatrix bound = l.cwiseAbs() * l.cwiseAbs().transpose() *
                                 (static_cast<long double>(size + 1) * std::numeric_limits<double>::epsilon());
        EXPECT_TRUE((error.array() <= bound.array()).all()) << name << ' ' << size << ' ' << condition;
      }
    }
  }
}

TEST(Cholesky, SolvesAsExactlyAsTheConditionAllows) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    for (const Eigen::Index size : kSizes) {
      const double condition = 1e6;
      const Eigen::MatrixXd matrix = with_condition(size, condition, 4);
      const Eigen::MatrixXd right = random_square(size, 5).leftCols(std::min<Eigen::Index>(11, size));
      const LongMatrix exact = matrix.cast<long double>().partialPivLu().solve(right.cast<long double>());
      const Cholesky cholesky(matrix);
      const double allowed = 8 * static_cast<double>(size) * std::numeric_limits<double>::epsilon() * condition;
      EXPECT_LT((cholesky.solve(right) - exact.cast<double>()).norm(), allowed * static_cast<double>(exact.norm()))
          << name << ' ' << size;
      EXPECT_LT((cholesky.solve(right.col(0)) - exact.col(0).cast<double>()).norm(),
                allowed * static_cast<double>(exact.col(0).norm()))
          << name << ' ' << size;
      const Eigen::MatrixXd upper = cholesky.solve_upper(right);
      EXPECT_LT((cholesky.lower().transpose() * upper - right).norm(), 1e-12 * condition) << name << ' ' << size;
      const auto trace = static_cast<double>(matrix.cast<long double>().inverse().trace());
      EXPECT_NEAR(cholesky.inverse_trace() / trace, 1, allowed) << name << ' ' << size;
    }
  }
}

TEST(Cholesky, EstimatesTheConditionAsEigenDoes) {
  for (const Eigen::Index size : kSizes) {
    for (const double condition : {1.0, 1e4, 1e12}) {
      const Eigen::MatrixXd matrix = with_condition(size, condition, 6);
      const double eigen = Eigen::LLT<Eigen::MatrixXd>(matrix).rcond(), ours = Cholesky(matrix).reciprocal_condition();
      const Eigen::MatrixXd inverse = matrix.inverse();
      const double exact =
          1 / (matrix.cwiseAbs().colwise().sum().maxCoeff() * inverse.cwiseAbs().colwise().sum().maxCoeff());
      EXPECT_GE(ours, exact * (1 - 1e-3)) << size;  // an estimate from below of the inverse's norm
      EXPECT_LE(ours, std::max(3 * exact, eigen * (1 + 1e-3))) << size;
    }
  }
}

TEST(Cholesky, WhatIsNotPositiveDefiniteFails) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    for (const Eigen::Index size : {1, 8, 9, 60, 200}) {
      for (const Eigen::Index place : {Eigen::Index{0}, size / 2, size - 1}) {
        Eigen::MatrixXd matrix = with_condition(size, 10, 7);
        matrix(place, place) = -1;
        EXPECT_FALSE(Cholesky(matrix).succeeded());
        EXPECT_EQ(Cholesky(matrix).reciprocal_condition(), 0);
        matrix(place, place) = std::nan("");
        EXPECT_FALSE(Cholesky(matrix).succeeded());
        matrix.row(place).setZero();
        matrix.col(place).setZero();
        EXPECT_FALSE(Cholesky(matrix).succeeded());
      }
    }
    // Twice the same column: the factor fails, or its condition says that nothing can be had of it.
    Eigen::MatrixXd columns = random_square(50, 8);
    columns.col(49) = columns.col(3);
    EXPECT_LT(Cholesky(columns.transpose() * columns).reciprocal_condition(), 1e-14);
  }
}

TEST(Cholesky, ThreadsDoNotChangeABit) {
  Eigen::MatrixXd matrix = random_square(700, 9);
  matrix.diagonal().array() += 100;  // more than the largest eigenvalue of the rest
  const Eigen::MatrixXd alone = Cholesky(matrix).lower();
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(Cholesky(matrix, &pool).lower(), alone);
  }
}

TEST(Cholesky, AnEmptyMatrixHasAnEmptyFactor) {
  const Cholesky cholesky(Eigen::MatrixXd(0, 0));
  EXPECT_TRUE(cholesky.succeeded());
  EXPECT_EQ(cholesky.solve(Eigen::MatrixXd(0, 2)).cols(), 2);
}

}  // namespace
}  // namespace lipschitzlr

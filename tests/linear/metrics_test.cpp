#include "lipschitzlr/linear/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lipschitzlr::linear {
namespace {

TEST(Metrics, RegressionByHand) {
  const Metrics metrics = measure(Family::linear, DenseMatrix<double>{{1}, {2}, {6}}, Vector<double>{{1, 4, 4}}, 0);
  EXPECT_DOUBLE_EQ(metrics.loss, (0 + 4 + 4) / 6.0);
  EXPECT_DOUBLE_EQ(metrics.constant_loss, (4 + 1 + 1) / 6.0);
  EXPECT_DOUBLE_EQ(metrics.rmse, std::sqrt(8 / 3.0));
  EXPECT_DOUBLE_EQ(metrics.mae, 4 / 3.0);
  EXPECT_DOUBLE_EQ(metrics.r2, 1 - 8 / 6.0);
}

TEST(Metrics, LogisticByHand) {
  const Metrics metrics =
      measure(Family::logistic, DenseMatrix<double>{{0.5}, {-1}, {2}, {-800}}, Vector<double>{{1, 1, 1, 0}}, 2);
  const double expected = std::log(1 + std::exp(-0.5)) + std::log(1 + std::exp(1)) + std::log(1 + std::exp(-2));
  EXPECT_NEAR(metrics.loss, expected / 4, 1e-15);
  EXPECT_NEAR(metrics.constant_loss, -0.75 * std::log(0.75) - 0.25 * std::log(0.25), 1e-15);
  EXPECT_EQ(metrics.accuracy, 0.75);
  EXPECT_EQ(metrics.majority_accuracy, 0.75);
  EXPECT_EQ(metrics.confusion, (std::vector<std::vector<Index>>{{1, 0}, {1, 2}}));
}

TEST(Metrics, SoftmaxByHandAndFarFromZero) {
  const DenseMatrix<double> scores{{1, 2, 3}, {1000, 999, 0}};
  const Metrics metrics = measure(Family::softmax, scores, Vector<double>{{2, 1}}, 3);
  const double first = std::log(1 + std::exp(-1) + std::exp(-2));
  const double second = 1 + std::log(1 + std::exp(-1));
  EXPECT_NEAR(metrics.loss, (first + second) / 2, 1e-13);
  EXPECT_EQ(metrics.accuracy, 0.5);
  const std::vector<double> shares = probabilities(Family::softmax, scores, 1);
  EXPECT_NEAR(shares[0], 1 / (1 + std::exp(-1)), 1e-13);
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 1e-13);
}

TEST(Metrics, ProbabilitiesOfTwoClassesAreTheSigmoid) {
  const DenseMatrix<double> scores{{-745}, {0.3}, {745}};
  EXPECT_EQ(probabilities(Family::logistic, scores, 0)[0], 1);
  EXPECT_NEAR(probabilities(Family::logistic, scores, 1)[1], 1 / (1 + std::exp(-0.3)), 1e-15);
  EXPECT_EQ(probabilities(Family::logistic, scores, 2)[1], 1);
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/linear/inference.hpp"

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
  EXPECT_EQ(metrics.confusion, (std::vector<std::vector<double>>{{1, 0}, {1, 2}}));
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

TEST(Inference, StudentsTIsThatOfSciPy) {
  struct Case {
    double degrees, t, p, critical;  // 2 * scipy.stats.t.sf(|t|, degrees), scipy.stats.t.ppf(0.975, degrees)
  };
  for (const Case& one :
       {Case{0.5, 1, 0.6022432216826441, 164.55767352096103}, Case{1, 2, 0.2951672353008664, 12.706204736432095},
        Case{7, -3.5, 0.009993040881885544, 2.3646242510102993}, Case{30, 0.1, 0.9210096117902711, 2.0422724563012373},
        Case{120, 1.98, 0.04999207557754096, 1.9799304050527766},
        Case{1e6, 4, 6.334703401004779e-05, 1.9599663568141066},
        Case{3e7, 2.5, 0.012419335946560136, 1.9599640636157647},
        Case{INFINITY, 1.959963984540054, 0.05, 1.959963984540054}}) {
    EXPECT_NEAR(two_sided_p(one.t, one.degrees) / one.p, 1, 1e-9) << one.degrees;
    EXPECT_NEAR(critical_value(0.05, one.degrees) / one.critical, 1, 1e-9) << one.degrees;
  }
  EXPECT_EQ(two_sided_p(0, 5), 1);
}

}  // namespace
}  // namespace lipschitzlr::linear

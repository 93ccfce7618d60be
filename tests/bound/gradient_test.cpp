#include "lipschitzlr/bound/gradient.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>

#include "bound/plain_models.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

using plain::Kind;
using plain::Numbers;
using plain::Problem;

Constant smoothness_of(const Problem& problem) {
  const double sigma = spectral_norm(problem.matrix()).upper();
  const auto m = static_cast<Index>(problem.rows());
  if (problem.kind == Kind::linear) return least_squares_smoothness(sigma, m);
  if (problem.kind == Kind::logistic) return logistic_smoothness(sigma, m);
  return softmax_smoothness(sigma, m);
}

double ratio(const Problem& problem, const Numbers& w, const Numbers& v, double lambda = 0) {
  const Numbers first = plain::gradient(problem, w), second = plain::gradient(problem, v);
  Numbers above(w.size()), below(w.size());
  for (std::size_t j = 0; j < w.size(); ++j) {
    below[j] = w[j] - v[j];
    above[j] = first[j] - second[j] + lambda * below[j];
  }
  return plain::norm(above) / plain::norm(below);
}

TEST(GradientConstant, IsNeverExceededByADifferenceOfGradients) {
  for (const Kind kind : {Kind::linear, Kind::logistic, Kind::softmax}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const Problem problem = plain::random_problem(kind, seed, 3 * seed, 1 + seed % 5, 2 + seed % 4);
      const double beta = smoothness_of(problem).value;
      const double with_lambda = with_l2_smoothness(smoothness_of(problem), 0.6).value;
      Random random(seed);
      for (double scale = 1e-2; scale < 1e2; scale *= 5) {
        for (int trial = 0; trial < 100; ++trial) {
          const Numbers w = plain::random_numbers(random, problem.weights(), scale);
          const Numbers v = plain::random_numbers(random, problem.weights(), trial % 2 == 0 ? scale : scale * 0.01);
          EXPECT_LE(ratio(problem, w, v), beta * (1 + 1e-9));
          EXPECT_LE(ratio(problem, w, v, 0.6), with_lambda * (1 + 1e-9));
        }
      }
    }
  }
}

TEST(GradientConstant, IsReachedAlongTheFirstSingularDirection) {
  for (const Kind kind : {Kind::linear, Kind::logistic, Kind::softmax}) {
    // Two classes: with more, the curvature at zero is 1/k and only unequal scores come near the bound of 1/2.
    const Problem problem = plain::random_problem(kind, 31, 20, 4, 2);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(problem.matrix(), Eigen::ComputeThinV);
    Numbers w(problem.weights());
    for (std::size_t j = 0; j < problem.features(); ++j) {
      const double entry = 1e-4 * svd.matrixV()(static_cast<Index>(j), 0);
      w[j * problem.outputs] = entry;
      if (kind == Kind::softmax) w[j * problem.outputs + 1] = -entry;
    }
    const double beta = smoothness_of(problem).value;
    EXPECT_NEAR(ratio(problem, w, Numbers(w.size(), 0)), beta, 1e-6 * beta);
  }
}

TEST(GradientConstant, HandComputedValuesAndWords) {
  EXPECT_DOUBLE_EQ(least_squares_smoothness(6, 3).value, 12);
  EXPECT_DOUBLE_EQ(logistic_smoothness(6, 3).value, 3);
  EXPECT_DOUBLE_EQ(softmax_smoothness(6, 3).value, 6);
  EXPECT_EQ(with_l2_smoothness(logistic_smoothness(6, 3), 0.5).explain(),
            "gradient beta = sigma_max^2/4m + lambda = 3.5, with sigma_max = 6, m = 3, lambda = 0.5");
  EXPECT_EQ(with_tikhonov_smoothness(softmax_smoothness(6, 3), Tikhonov(0.5)).explain(),
            "gradient beta = sigma_max^2/2m + 2 ||Gamma'Gamma||_2 = 6.5, with sigma_max = 6, m = 3, ||Gamma'Gamma||_2 "
            "= 0.25");
  EXPECT_DOUBLE_EQ(with_tikhonov_smoothness(softmax_smoothness(6, 3), Tikhonov()).value, 6);
  // L2 with lambda is Tikhonov with sqrt(lambda/2) here too.
  EXPECT_DOUBLE_EQ(with_tikhonov_smoothness(softmax_smoothness(6, 3), Tikhonov(std::sqrt(0.4))).value,
                   with_l2_smoothness(softmax_smoothness(6, 3), 0.8).value);
}

TEST(GradientConstant, NumbersThatMakeNoSenseAreRefused) {
  EXPECT_THROW(least_squares_smoothness(1, 0), Error);
  EXPECT_THROW(least_squares_smoothness(std::nan(""), 1), Error);
  EXPECT_THROW(with_l2_smoothness(least_squares_smoothness(1, 1), -1), Error);
}

}  // namespace
}  // namespace lipschitzlr::bound

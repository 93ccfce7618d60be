#include "lipschitzlr/bound/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bound/plain_models.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

using plain::Kind;
using plain::Numbers;
using plain::Problem;

constexpr double kRounding = 1 + 1e-12;

Constant constant_of(ConstantKind variant, const Problem& problem, double weight_bound) {
  const DenseMatrix<double> x = problem.matrix();
  const Vector<double> y = Eigen::Map<const Vector<double>>(problem.y.data(), static_cast<Index>(problem.y.size()));
  switch (problem.kind) {
    case Kind::linear:
      return linear_regression(variant, weight_bound, gram_frobenius_norm(x), target_product_norm(x, y), x.rows());
    case Kind::logistic:
      return logistic_regression(variant, frobenius_norm(x), row_norm_sum(x), x.rows());
    case Kind::softmax:
      return softmax_regression(variant, frobenius_norm(x), row_norm_sum(x), x.rows(),
                                static_cast<Index>(problem.outputs));
  }
  return {};
}

// Random weights of growing scale; for linear regression drawn back into ||w|| <= K.
double largest_gradient(const Problem& problem, double weight_bound, double lambda = 0) {
  Random random(99);
  double largest = 0;
  for (double scale = 1e-3; scale < 2e3; scale *= 4) {
    for (int trial = 0; trial < 60; ++trial) {
      Numbers w = plain::random_numbers(random, problem.weights(), scale);
      const double size = plain::norm(w);
      if (size > weight_bound) {
        for (double& value : w) value *= weight_bound / size;
      }
      Numbers g = plain::gradient(problem, w);
      for (std::size_t j = 0; j < w.size(); ++j) g[j] += lambda * w[j];
      largest = std::max(largest, plain::norm(g));
    }
  }
  return largest;
}

constexpr double kNoBound = std::numeric_limits<double>::infinity();

TEST(LossConstant, TheCertifiedOneIsNeverExceeded) {
  for (const Kind kind : {Kind::linear, Kind::logistic, Kind::softmax}) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Problem problem = plain::random_problem(kind, seed, 1 + 3 * seed, 1 + seed % 5, 2 + seed % 4);
      const double bound = kind == Kind::linear ? 0.5 * static_cast<double>(seed) : kNoBound;
      const Constant constant = constant_of(ConstantKind::certified, problem, bound);
      EXPECT_LE(largest_gradient(problem, bound), constant.value * kRounding) << constant.explain();
    }
  }
}

TEST(LossConstant, TheCertifiedOneHoldsWithL2) {
  for (const Kind kind : {Kind::linear, Kind::logistic, Kind::softmax}) {
    const Problem problem = plain::random_problem(kind, 21);
    const double bound = 3, lambda = 0.7;
    const Constant constant = with_l2(constant_of(ConstantKind::certified, problem, bound), lambda, bound);
    EXPECT_LE(largest_gradient(problem, bound, lambda), constant.value * kRounding);
  }
}

TEST(LossConstant, TheCertifiedOnesAreReached) {
  // One row predicted wrong with certainty: the residual of logistic regression is 1, that of softmax sqrt(2).
  const Problem logistic{Kind::logistic, {{3, 4}}, {0}, 1};
  EXPECT_NEAR(plain::norm(plain::gradient(logistic, {10, 10})), constant_of(ConstantKind::certified, logistic, 0).value,
              1e-12);
  const Problem softmax{Kind::softmax, {{3, 4}}, {0}, 3};
  EXPECT_NEAR(plain::norm(plain::gradient(softmax, {0, 10, 0, 0, 10, 0})),
              constant_of(ConstantKind::certified, softmax, 0).value, 1e-12);
  // One row, w = -K x/||x|| and a target of the other sign.
  const Problem linear{Kind::linear, {{3, 4}}, {2}, 1};
  EXPECT_NEAR(plain::norm(plain::gradient(linear, {-6, -8})), constant_of(ConstantKind::certified, linear, 10).value,
              1e-12);
}

TEST(LossConstant, ThePublishedLogisticOneIsExceededByCertainMistakes) {
  // |sigmoid(z) - y| tends to 1, but the paper takes 1/2: L = 2.5 and a gradient of 5.
  const Problem problem{Kind::logistic, {{3, 4}}, {0}, 1};
  const double published = constant_of(ConstantKind::published, problem, 0).value;
  EXPECT_DOUBLE_EQ(published, 2.5);
  EXPECT_NEAR(plain::norm(plain::gradient(problem, {10, 10})), 2 * published, 1e-12);
}

TEST(LossConstant, ThePublishedLogisticOneIsExceededAtZeroByEqualRows) {
  // m equal rows: the mean of their gradients at w = 0 is ||x||/2, but ||X||_F/2m is ||x||/(2 sqrt(m)).
  const Problem problem{Kind::logistic, std::vector<Numbers>(100, {3, 4}), Numbers(100, 1), 1};
  const double published = constant_of(ConstantKind::published, problem, 0).value;
  EXPECT_NEAR(plain::norm(plain::gradient(problem, {0, 0})), 10 * published, 1e-12);
}

TEST(LossConstant, ThePublishedSoftmaxOneIsExceeded) {
  const Problem problem{Kind::softmax, {{3, 4}}, {0}, 3};
  const double published = constant_of(ConstantKind::published, problem, 0).value;
  EXPECT_DOUBLE_EQ(published, 5 * 2.0 / 3);
  EXPECT_NEAR(plain::norm(plain::gradient(problem, {0, 10, 0, 0, 10, 0})), 5 * std::sqrt(2.0), 1e-12);
  const Problem equal{Kind::softmax, std::vector<Numbers>(100, {3, 4}), Numbers(100, 2), 3};
  EXPECT_GT(plain::norm(plain::gradient(equal, Numbers(6, 0))),
            10 * constant_of(ConstantKind::published, equal, 0).value);
}

TEST(LossConstant, ThePublishedOneIsExceededOnOrdinaryDataToo) {
  for (const Kind kind : {Kind::logistic, Kind::softmax}) {
    const Problem problem = plain::random_problem(kind, 5, 50, 3);
    EXPECT_GT(largest_gradient(problem, kNoBound), constant_of(ConstantKind::published, problem, 0).value);
  }
}

TEST(LossConstant, TheCodedLinearOneIsExceededWhereItsTermsCancel) {
  // ||X'X|| = 1, ||y'X|| = 2, K = 2: the minus leaves nothing, while the gradient at w = -2 is 4.
  const Problem problem{Kind::linear, {{1}}, {2}, 1};
  EXPECT_DOUBLE_EQ(constant_of(ConstantKind::coded, problem, 2).value, 0);
  EXPECT_DOUBLE_EQ(plain::norm(plain::gradient(problem, {-2})), 4);
  EXPECT_DOUBLE_EQ(constant_of(ConstantKind::published, problem, 2).value, 4);
}

TEST(LossConstant, TheLinearOneHoldsOnlyWithinItsBoundOnTheWeights) {
  const Problem problem{Kind::linear, {{1}}, {2}, 1};
  EXPECT_GT(plain::norm(plain::gradient(problem, {-2.5})), constant_of(ConstantKind::certified, problem, 2).value);
}

TEST(LossConstant, HandComputedValues) {
  EXPECT_DOUBLE_EQ(linear_regression(ConstantKind::published, 2, 10, 4, 8).value, 3);
  EXPECT_DOUBLE_EQ(linear_regression(ConstantKind::coded, 2, 10, 4, 8).value, 2);
  EXPECT_DOUBLE_EQ(linear_regression(ConstantKind::coded, 2, 10, 36, 8).value, 2);
  EXPECT_DOUBLE_EQ(linear_regression(ConstantKind::certified, 2, 10, 4, 8).value, 3);
  EXPECT_DOUBLE_EQ(network_regression(ConstantKind::published, 3, 5, 7, 4).value, 14);
  EXPECT_DOUBLE_EQ(network_regression(ConstantKind::certified, 3, 5, 7, 4).value, 14);
  EXPECT_DOUBLE_EQ(logistic_regression(ConstantKind::published, 12, 30, 3).value, 2);
  EXPECT_DOUBLE_EQ(logistic_regression(ConstantKind::coded, 12, 30, 3).value, 2);
  EXPECT_DOUBLE_EQ(logistic_regression(ConstantKind::certified, 12, 30, 3).value, 10);
  EXPECT_DOUBLE_EQ(binary_network(ConstantKind::published, 12, 30, 3).value, 2);
  EXPECT_DOUBLE_EQ(binary_network(ConstantKind::certified, 12, 30, 3).value, 10);
  EXPECT_DOUBLE_EQ(softmax_regression(ConstantKind::published, 10, 30, 3, 5).value, 8.0 / 3);
  EXPECT_DOUBLE_EQ(softmax_regression(ConstantKind::coded, 10, 30, 3, 5).value, 8.0 / 3);
  EXPECT_DOUBLE_EQ(softmax_regression(ConstantKind::certified, 10, 30, 3, 5).value, 10 * std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(multiclass_network(ConstantKind::coded, 10, 30, 3, 5).value, 8.0 / 3);
  EXPECT_DOUBLE_EQ(multiclass_network(ConstantKind::certified, 10, 30, 3, 5).value, 10 * std::sqrt(2.0));
}

TEST(LossConstant, MnistSoftmaxRegressionHasTheExactRate) {
  // 717 pixels that are not constant, standardised over 60,000 images: ||X||_F^2 is their number.
  const double feature_norm = std::sqrt(60000.0 * 717);
  EXPECT_NEAR(softmax_regression(ConstantKind::published, feature_norm, 0, 60000, 10).rate(), 10.164208, 5e-7);
}

TEST(LossConstant, TheNetworkFormulaBoundsTheLinearOneAndEqualsItForRankOne) {
  // Paper, section 5.3: K_z = ||X|| and K_a = K ||X|| turn the network's formula into the linear one. Its last "=" uses
  // ||X|| ||X|| = ||X'X|| and ||y|| ||X|| = ||y'X||, which are ">=" but for rank one with y along the left direction.
  const double k = 3;
  const auto both = [&](const DenseMatrix<double>& x, const Vector<double>& y) {
    const double norm = frobenius_norm(x);
    return std::pair{
        network_regression(ConstantKind::published, k * norm, y.norm(), norm, x.rows()).value,
        linear_regression(ConstantKind::published, k, gram_frobenius_norm(x), target_product_norm(x, y), x.rows())
            .value};
  };
  const Vector<double> left{{1, -2, 4}};
  const auto [network, linear] = both(left * Eigen::RowVector2d(3, 5), 7 * left);
  EXPECT_NEAR(network, linear, 1e-12 * network);

  const auto [network_other_y, linear_other_y] = both(left * Eigen::RowVector2d(3, 5), Vector<double>{{2, 1, 0}});
  EXPECT_GT(network_other_y, linear_other_y * 1.01);  // y is orthogonal to the left direction

  const auto [network_full, linear_full] = both(DenseMatrix<double>::Identity(3, 3), Vector<double>{{1, 0, 0}});
  EXPECT_NEAR(network_full, (3 * 3 + std::sqrt(3.0)) / 3, 1e-12);
  EXPECT_NEAR(linear_full, (3 * std::sqrt(3.0) + 1) / 3, 1e-12);

  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Problem problem = plain::random_problem(Kind::linear, seed);
    const Vector<double> y = Eigen::Map<const Vector<double>>(problem.y.data(), static_cast<Index>(problem.y.size()));
    const auto [upper, lower] = both(problem.matrix(), y);
    EXPECT_GE(upper, lower);
  }
}

TEST(LossConstant, TheNetworkFormulaBoundsTheLastLayersGradient) {
  // Penultimate activations A, outputs a with ||a|| <= K_a: the gradient of the last layer is A'(a - y)/m.
  Random random(8);
  for (int trial = 0; trial < 200; ++trial) {
    const Index m = 1 + static_cast<Index>(random.below(10));
    const auto draw = [&] { return random.normal(); };
    const DenseMatrix<double> activations = DenseMatrix<double>::NullaryExpr(m, 3, draw);
    const Vector<double> outputs = 4 * Vector<double>::NullaryExpr(m, draw);
    const Vector<double> y = 2 * Vector<double>::NullaryExpr(m, draw);
    double squares = 0;
    for (Index j = 0; j < 3; ++j) {
      double entry = 0;
      for (Index i = 0; i < m; ++i) entry += activations(i, j) * (outputs[i] - y[i]) / static_cast<double>(m);
      squares += entry * entry;
    }
    const Constant constant =
        network_regression(ConstantKind::certified, outputs.norm(), y.norm(), frobenius_norm(activations), m);
    EXPECT_LE(std::sqrt(squares), constant.value * kRounding);
  }
}

TEST(LossConstant, TikhonovTerms) {
  const Constant base = logistic_regression(ConstantKind::published, 12, 30, 3);
  const Tikhonov number(0.5);
  EXPECT_DOUBLE_EQ(with_tikhonov(ConstantKind::published, base, number, 4, 3).value, 2 + 2 * 3 * 0.25 * 2);
  EXPECT_DOUBLE_EQ(with_tikhonov(ConstantKind::certified, base, number, 4, 3).value, 2 + 2 * 3 * 0.25);
  EXPECT_THROW(with_tikhonov(ConstantKind::coded, base, number, 4, 3), Error);
  EXPECT_DOUBLE_EQ(with_tikhonov(ConstantKind::coded, base, Tikhonov(), 4, 3).value, 2);
  // The paper's slip: Gamma = sqrt(lambda/2) I, and not lambda/2 I, is L2 with lambda.
  const double lambda = 0.3;
  EXPECT_DOUBLE_EQ(with_tikhonov(ConstantKind::certified, base, Tikhonov(std::sqrt(lambda / 2)), 4, 3).value,
                   with_l2(base, lambda, 3).value);
}

TEST(LossConstant, TheCertifiedTikhonovTermHoldsWhereThePublishedOneFails) {
  // Gamma^2 = 0 although Gamma is not: the published term vanishes, the gradient 2 Gamma'Gamma w does not.
  const Tikhonov shift(DenseMatrix<double>{{0, 1}, {0, 0}});
  const Constant zero = logistic_regression(ConstantKind::published, 0, 0, 1);
  const DenseMatrix<double> w{{0}, {3}};
  DenseMatrix<double> gradient = DenseMatrix<double>::Zero(2, 1);
  shift.add_gradient(w, gradient);
  EXPECT_DOUBLE_EQ(gradient.norm(), 6);
  EXPECT_DOUBLE_EQ(with_tikhonov(ConstantKind::published, zero, shift, 2, 3).value, 0);
  EXPECT_NEAR(with_tikhonov(ConstantKind::certified, zero, shift, 2, 3).value, 6, 1e-8);

  Random random(4);
  const Tikhonov any(DenseMatrix<double>(DenseMatrix<double>::NullaryExpr(5, 3, [&] { return random.normal(); })));
  for (int trial = 0; trial < 300; ++trial) {
    const DenseMatrix<double> v = DenseMatrix<double>::NullaryExpr(3, 1, [&] { return random.normal(); });
    DenseMatrix<double> g = DenseMatrix<double>::Zero(3, 1);
    any.add_gradient(v, g);
    EXPECT_LE(g.norm(), with_tikhonov(ConstantKind::certified, zero, any, 3, v.norm()).value * kRounding);
  }
}

TEST(LossConstant, WhatTheAuthorsDidNotCodeIsNotInvented) {
  try {
    network_regression(ConstantKind::coded, 1, 1, 1, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_STREQ(error.what(),
                 "the authors' code has no constant for regression with a network; use published or certified");
  }
}

TEST(LossConstant, ExplainsItself) {
  const Constant constant = with_l2(linear_regression(ConstantKind::published, 2, 10, 4, 8), 0.5, 2);
  EXPECT_EQ(constant.explain(),
            "published L = K/m ||X'X||_F + 1/m ||y'X|| + lambda K = 4, with K = 2, ||X'X||_F = 10, ||y'X|| = 4, m = 8, "
            "lambda = 0.5");
  EXPECT_EQ(with_l2(linear_regression(ConstantKind::coded, 2, 10, 4, 8), 0.5, 6).explain(),
            "coded L = abs(K/m ||X'X||_F - 1/m ||y'X||) + lambda K_w = 5, with K = 2, ||X'X||_F = 10, ||y'X|| = 4, "
            "m = 8, lambda = 0.5, K_w = 6");
  EXPECT_EQ(softmax_regression(ConstantKind::coded, 10, 30, 4, 5).explain(),
            "coded L = (k-1)/(k m) ||X||_F = 2, with ||X||_F = 10, m = 4, k = 5");
  EXPECT_EQ(multiclass_network(ConstantKind::certified, 10, 30, 3, 5).explain(),
            "certified L = sqrt(2)/m sum ||a_i|| = 14.1421, with sum ||a_i|| = 30, m = 3");
}

TEST(LossConstant, NumbersThatMakeNoSenseAreRefused) {
  const double bad = std::nan("");
  const auto fault_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.exit_code();
    }
    return 0;
  };
  EXPECT_EQ(fault_of([] { logistic_regression(ConstantKind::published, 1, 1, 0); }), 2);
  EXPECT_EQ(fault_of([] { softmax_regression(ConstantKind::published, 1, 1, 1, 1); }), 2);
  EXPECT_EQ(fault_of([&] { logistic_regression(ConstantKind::published, bad, 1, 1); }), 3);
  EXPECT_EQ(fault_of([&] { logistic_regression(ConstantKind::certified, bad, 1, 1); }), 0);  // it does not use ||X||_F
  EXPECT_EQ(fault_of([&] { logistic_regression(ConstantKind::certified, 1, bad, 1); }), 3);
  EXPECT_EQ(fault_of([] { linear_regression(ConstantKind::published, -1, 1, 1, 1); }), 3);
  EXPECT_EQ(fault_of([] { linear_regression(ConstantKind::gradient, 1, 1, 1, 1); }), 2);
  EXPECT_EQ(fault_of([] { softmax_regression(ConstantKind::gradient, 1, 1, 1, 2); }), 2);
  EXPECT_EQ(fault_of([] { with_tikhonov(ConstantKind::gradient, {}, Tikhonov(1.0), 1, 1); }), 2);
  EXPECT_EQ(fault_of([] { with_l2(logistic_regression(ConstantKind::published, 1, 1, 1), -0.1, 1); }), 2);
  for (const ConstantKind kind : kConstantKinds) EXPECT_EQ(constant_kind_from(to_string(kind)), kind);
  EXPECT_EQ(constant_kind_from("printed"), std::nullopt);
}

}  // namespace
}  // namespace lipschitzlr::bound

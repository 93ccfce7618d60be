#include "lipschitzlr/linear/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "linear/problems.hpp"

namespace lipschitzlr::linear {
namespace {

TEST(Problem, PenaltiesEnterLossAndGradient) {
  ThreadPool pool(1);
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    Penalty penalty{0.3, bound::Tikhonov(Vector<double>{{0.5, 1, 0, 2, 0.1}})};
    const auto problem = random_problem(family, pool, 30, 5, penalty);
    Weights<double> w = problem->zero_weights(), gradient, scratch;
    Random random(5);
    for (double& weight : w.reshaped()) weight = random.normal();
    problem->evaluate(w, gradient);
    for (Index i = 0; i < w.rows(); ++i) {
      for (Index j = 0; j < w.cols(); ++j) {
        const double h = 1e-5;
        Weights<double> up = w, down = w;
        up(i, j) += h;
        down(i, j) -= h;
        const double slope = (problem->evaluate(up, scratch) - problem->evaluate(down, scratch)) / (2 * h);
        EXPECT_NEAR(gradient(i, j), slope, 1e-7 * (1 + std::abs(slope))) << to_string(family);
      }
    }
  }
}

TEST(Problem, ABatchOfAllRowsHasTheConstantsOfTheWhole) {
  ThreadPool pool(1);
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    const auto problem = random_problem(family, pool, 30, 5, {0.2, {}});
    std::vector<Index> rows(30);
    std::iota(rows.begin(), rows.end(), Index{0});
    for (ConstantKind kind : kConstantKinds) {
      const Measured whole = problem->measure(kind, 4.0);
      const Measured batch = problem->measure(kind, 4.0, rows);
      EXPECT_NEAR(batch.constant.value, whole.constant.value, 1e-9 * whole.constant.value);
      EXPECT_NEAR(batch.features.frobenius, whole.features.frobenius, 1e-12 * whole.features.frobenius);
      const double share = kind == ConstantKind::gradient ? 0.2 : 0.2 * 4.0;
      EXPECT_NEAR(whole.constant.value - whole.data_part, share, 1e-12);
      EXPECT_EQ(problem->constant(kind).name, to_string(kind));
    }
  }
}

TEST(Problem, SparseAndDenseAgree) {
  ThreadPool pool(1);
  const DenseMatrix<double> dense{{1, 0, 2}, {0, 3, 0}, {0, 0, 0}, {4, 0, 5}};
  const Vector<double> targets{{0, 1, 1, 0}};
  const ProblemSetup setup{Family::logistic, 1, {}, 0};
  const Problem<double> a(dense, targets, setup, pool);
  const Problem<double> b(SparseMatrix<double>(dense.sparseView()), targets, setup, pool);
  const std::vector<Index> rows = {3, 1};
  for (ConstantKind kind : kConstantKinds) {
    EXPECT_NEAR(a.constant(kind).value, b.constant(kind).value, 1e-9);
    EXPECT_NEAR(a.measure(kind, 0, rows).constant.value, b.measure(kind, 0, rows).constant.value, 1e-9);
  }
}

TEST(Problem, TheDefaultWeightBoundIsWhatTheHeaderSays) {
  EXPECT_EQ(default_weight_bound(Family::linear, 1, {}, 7), 7);
  EXPECT_EQ(default_weight_bound(Family::logistic, 1, {}, 7), 0);
  EXPECT_NEAR(default_weight_bound(Family::logistic, 1, {0.5, {}}, 7), std::sqrt(2 * std::log(2) / 0.5), 1e-15);
  EXPECT_NEAR(default_weight_bound(Family::softmax, 10, {0.5, {}}, 7), std::sqrt(2 * std::log(10) / 0.5), 1e-15);
  EXPECT_EQ(default_weight_bound(Family::softmax, 10, {0, bound::Tikhonov(1.0)}, 7), 7);
}

}  // namespace
}  // namespace lipschitzlr::linear

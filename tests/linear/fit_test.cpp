#include "lipschitzlr/linear/fit.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {
namespace {

data::Table table_of(data::Features features, Vector<double> target, std::vector<std::string> labels = {}) {
  data::Table table{std::move(features), {}, std::move(target), std::move(labels), "y", -1};
  for (Index j = 0; j < table.columns(); ++j) table.feature_names.push_back("x" + std::to_string(j + 1));
  return table;
}

Fault fault_of(const data::Table& table, const FitOptions& options) {
  try {
    fit(table, options);
  } catch (const Error& error) {
    return error.fault();
  }
  ADD_FAILURE() << "no error";
  return Fault::training;
}

TEST(Fit, RegressionFindsTheLeastSquaresSolutionInRawUnits) {
  DenseMatrix<double> features = random_matrix(80, 3, 1);
  features.col(1) *= 1000;
  features.col(2).array() += 50;
  const Vector<double> target = random_targets(Family::linear, features, 1, 2);
  const Model model = fit(table_of(features, target), {.choose_penalty = false});
  DenseMatrix<double> design(80, 4);
  design << features, Vector<double>::Ones(80);
  const Vector<double> exact = (design.transpose() * design).inverse() * design.transpose() * target;
  const DenseMatrix<double> unseen = random_matrix(5, 3, 3);
  const Vector<double> expected = unseen * exact.head(3) + Vector<double>::Constant(5, exact[3]);
  EXPECT_LT((model.predict(unseen) - expected).norm(), 1e-3 * expected.norm());
}

TEST(Fit, ThePenaltyIsChosenUnlessItIsGivenAndTheInterceptIsNotPenalised) {
  const DenseMatrix<double> features = random_matrix(60, 3, 15);
  const Vector<double> target = random_targets(Family::linear, features, 1, 16).array() + 1000;
  const Model chosen = fit(table_of(features, target)), given = fit(table_of(features, target), {.penalty = {1e3, {}}});
  EXPECT_EQ(chosen.training.find("\"l2\":0.0,"), std::string::npos) << chosen.training;
  EXPECT_NE(given.training.find("\"l2\":1000.0,"), std::string::npos) << given.training;
  EXPECT_NEAR(chosen.weights(3), target.mean(), 1e-6);
}

TEST(Fit, ClassesArePredictedByIndexAndProbability) {
  const DenseMatrix<double> features = random_matrix(200, 4, 4);
  for (const Family family : {Family::logistic, Family::softmax}) {
    const std::vector<std::string> labels =
        family == Family::logistic ? std::vector<std::string>{"no", "yes"} : std::vector<std::string>{"a", "b", "c"};
    const Vector<double> target = random_targets(family, features, 3, 5);
    const Model model = fit(table_of(features, target, labels), {.penalty = {0.01, {}}});
    EXPECT_EQ(model.family, family);
    const Vector<double> classes = model.predict(features);
    const DenseMatrix<double> shares = model.probabilities(features);
    ASSERT_EQ(shares.cols(), model.classes());
    Index right = 0;
    for (Index i = 0; i < features.rows(); ++i) {
      EXPECT_NEAR(shares.row(i).sum(), 1, 1e-12);
      EXPECT_EQ(shares(i, static_cast<Index>(classes[i])), shares.row(i).maxCoeff());
      right += classes[i] == target[i];
    }
    EXPECT_GT(right, 160);
  }
  EXPECT_THROW(fit(table_of(features, random_targets(Family::linear, features, 1, 5))).probabilities(features), Error);
}

TEST(Fit, SparseAndDenseFeaturesGiveTheSameModel) {
  DenseMatrix<double> features = random_matrix(60, 4, 6);
  const Vector<double> target = random_targets(Family::logistic, features, 2, 7);
  features = (features.array().abs() < 0.5).select(0, features);
  const FitOptions options{.scaling = data::Scaling::none,
                           .penalty = {0.1, {}},
                           .solver = {.solver = Solver::newton, .gap_tolerance = 1e-14}};
  const Model dense = fit(table_of(features, target, {"no", "yes"}), options);
  const Model sparse = fit(table_of(SparseMatrix<double>(features.sparseView()), target, {"no", "yes"}), options);
  EXPECT_LT((dense.weights - sparse.weights).norm(), 1e-9);
}

TEST(Fit, ANumericTargetThatLooksLikeClassesIsOneUnlessAskedOtherwise) {
  const DenseMatrix<double> features = random_matrix(40, 2, 8);
  Vector<double> target = random_targets(Family::logistic, features, 2, 9);
  EXPECT_EQ(fit(table_of(features, target)).labels, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(fit(table_of(features, target), {.family = Family::linear}).family, Family::linear);
  EXPECT_EQ(fit(table_of(features, target), {.family = Family::softmax}).weights.cols(), 2);
}

TEST(Fit, WhatDoesNotFitIsRefused) {
  const DenseMatrix<double> features = random_matrix(30, 2, 10);
  const Vector<double> numbers = random_targets(Family::linear, features, 1, 11);
  const Vector<double> classes = random_targets(Family::softmax, features, 3, 11);
  const std::vector<std::string> labels = {"a", "b", "c"};
  EXPECT_EQ(fault_of(table_of(features, classes, labels), {.family = Family::linear}), Fault::usage);
  EXPECT_EQ(fault_of(table_of(features, classes, labels), {.family = Family::logistic}), Fault::usage);
  EXPECT_EQ(fault_of(table_of(features, {}), {}), Fault::data);
  EXPECT_EQ(fault_of(table_of(features.topRows(1).eval(), numbers.head(1)), {}), Fault::data);
  EXPECT_EQ(fault_of(table_of(features, Vector<double>::Zero(30), {"same"}), {}), Fault::data);
  EXPECT_EQ(fault_of(table_of(features, numbers), {.solver = {.solver = Solver::gd, .rate = 1e200}}), Fault::training);
}

TEST(Fit, ADesignIsHeldUnlessItIsReadOnce) {
  const DenseMatrix<double> features = random_matrix(30, 4, 15);
  const Vector<double> numbers = random_targets(Family::linear, features, 1, 16);
  const data::Table table = table_of(features, numbers), classified = table_of(features, numbers, {"a", "b"});
  const Preparation linear = prepare(table, Family::linear, {}), logistic = prepare(classified, Family::logistic, {});
  const Preparation lasso =
      prepare(table, Family::linear, {.penalty = {.l2 = 0, .tikhonov = {}, .spare_last = false, .l1 = 0.1}});
  EXPECT_EQ(worth_holding(table, linear, Solver::automatic), 0);
  EXPECT_EQ(worth_holding(table, linear, Solver::newton), 0);
  EXPECT_EQ(worth_holding(table, linear, Solver::gd), kMostHeld);
  EXPECT_EQ(worth_holding(table, lasso, Solver::automatic), kMostHeld);
  EXPECT_EQ(worth_holding(classified, logistic, Solver::newton), kMostHeld);
}

TEST(Fit, TheScoresOfTheProblemAreThoseOfTheModel) {
  const DenseMatrix<double> features = random_matrix(50, 3, 12);
  const data::Table table = table_of(features, random_targets(Family::softmax, features, 3, 13), {"a", "b", "c"});
  const Preparation preparation = prepare(table, Family::softmax, {});
  ThreadPool pool(2);
  const auto problem = make_problem<double>(table, preparation, pool);
  const Weights<double> weights = random_matrix(4, 3, 14);
  EXPECT_EQ(problem->scores(weights), scores(make_model(table, preparation, weights), features, pool));
}

}  // namespace
}  // namespace lipschitzlr::linear

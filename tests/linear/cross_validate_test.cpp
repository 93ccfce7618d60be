#include "lipschitzlr/linear/cross_validate.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "base/thread_communicator.hpp"
#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

// Many features of which one matters: without a penalty the noise of the others is learnt.
DenseMatrix<double> noisy_features(Index rows) {
  DenseMatrix<double> x = random_matrix(rows, 21, 81);
  x.col(20).setOnes();
  return x;
}

Vector<double> noisy_targets(Family family, const DenseMatrix<double>& x) {
  Random random(82);
  Vector<double> y(x.rows());
  for (Index i = 0; i < y.size(); ++i) {
    const double score = x(i, 0) + random.normal();
    y[i] = family == Family::linear     ? score
           : family == Family::logistic ? (score > 0 ? 1 : 0)
                                        : (score > 1    ? 2
                                           : score > -1 ? 1
                                                        : 0);
  }
  return y;
}

std::unique_ptr<Problem<double>> noisy_problem(Family family, ThreadPool& pool, Communicator* communicator = nullptr) {
  const DenseMatrix<double> x = noisy_features(90);
  const Vector<double> y = noisy_targets(family, x);
  const auto [first, last] = communicator == nullptr ? std::pair(Index{0}, x.rows())
                                                     : share_of(x.rows(), communicator->rank(), communicator->size());
  return std::make_unique<Problem<double>>(
      DenseMatrix<double>(x.middleRows(first, last - first)), Vector<double>(y.segment(first, last - first)),
      ProblemSetup{family, family == Family::softmax ? 3 : 1, {0, {}, true}, 0}, pool, communicator);
}

constexpr Family kPathFamilies[] = {Family::linear, Family::logistic, Family::softmax};

TEST(CrossValidate, TheChosenPenaltyIsBetterOnFreshRowsThanNone) {
  ThreadPool pool(1);
  for (Family family : kPathFamilies) {
    const auto problem = noisy_problem(family, pool);
    const Path path = cross_validate(*problem);
    EXPECT_EQ(path.splits, 5);
    EXPECT_GT(path.best, 0u);
    EXPECT_LE(path.plainest, path.best);
    for (const PathPoint& point : path.points) EXPECT_GE(point.loss, path.points[path.best].loss);
    const PathPoint &best = path.points[path.best], &plainest = path.points[path.plainest];
    EXPECT_LE(plainest.loss, best.loss + best.error);
    EXPECT_TRUE(path.plainest == 0 || path.points[path.plainest - 1].loss > best.loss + best.error);
    // Rows that took no part at all.
    const DenseMatrix<double> fresh = random_matrix(4000, 21, 83);
    DenseMatrix<double> x = fresh;
    x.col(20).setOnes();
    const Problem<double> unseen(x, noisy_targets(family, x), {family, problem->setup().classes, {}, 0}, pool);
    const auto loss_with = [&](double l2) {
      problem->set_penalty({l2, {}, true});
      Weights<double> gradient;
      return unseen.evaluate(solve_newton(*problem, {}, State<double>{}).state.weights, gradient);
    };
    EXPECT_LT(loss_with(path.factor()), 0.97 * loss_with(1e-9)) << to_string(family);
  }
}

// Each fold by hand, least squares in closed form.
TEST(CrossValidate, TheCurveIsThatOfFoldsSolvedByHand) {
  ThreadPool pool(1);
  const Index m = 24;
  DenseMatrix<double> x = random_matrix(m, 3, 84);
  const Vector<double> y = random_targets(Family::linear, x, 1, 85);
  const Problem<double> problem(x, y, {Family::linear, 1, {}, 0}, pool);
  PathOptions options{.folds = 4, .values = 5, .seed = 7, .solver = {.gap_tolerance = 1e-13}};
  const Path path = cross_validate(problem, options);
  std::vector<Index> order(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) order[static_cast<std::size_t>(i)] = i;
  Random(7).shuffle(std::span(order));
  for (const PathPoint& point : path.points) {
    std::vector<double> means;
    for (std::size_t fold = 0; fold < 4; ++fold) {
      std::vector<Index> training, tested;
      for (std::size_t i = 0; i < order.size(); ++i) (i % 4 == fold ? tested : training).push_back(order[i]);
      const DenseMatrix<double> a = x(training, Eigen::all), b = x(tested, Eigen::all);
      const Eigen::MatrixXd matrix =
          a.transpose() * a / static_cast<double>(training.size()) + point.factor * Eigen::MatrixXd::Identity(3, 3);
      const Vector<double> w =
          matrix.llt().solve(a.transpose() * Vector<double>(y(training)) / static_cast<double>(training.size()));
      means.push_back((b * w - y(tested)).squaredNorm() / 2 / static_cast<double>(tested.size()));
    }
    double mean = 0, squares = 0;
    for (double each : means) mean += each / 4;
    for (double each : means) squares += (each - mean) * (each - mean);
    EXPECT_NEAR(point.loss, mean, 1e-8 * mean);
    EXPECT_NEAR(point.error, std::sqrt(squares / 3 / 4), 1e-6 * mean);
  }
}

TEST(CrossValidate, ThreadsDoNotChangeABitAndProcessesHardlyADigit) {
  for (Family family : kPathFamilies) {
    ThreadPool one(1);
    const Path alone = cross_validate(*noisy_problem(family, one), {.values = 8});
    for (const unsigned threads : {2u, 7u}) {
      ThreadPool pool(threads);
      const Path path = cross_validate(*noisy_problem(family, pool), {.values = 8});
      ASSERT_EQ(path.points.size(), alone.points.size());
      for (std::size_t i = 0; i < path.points.size(); ++i) EXPECT_EQ(path.points[i].loss, alone.points[i].loss);
    }
    const auto all = test::run_threads<Path>(3, [&](Communicator& communicator) {
      ThreadPool pool(1);
      return cross_validate(*noisy_problem(family, pool, &communicator), {.values = 8});
    });
    for (const Path& path : all) {
      ASSERT_EQ(path.points.size(), alone.points.size());
      EXPECT_EQ(path.best, alone.best);
      for (std::size_t i = 0; i < path.points.size(); ++i) {
        EXPECT_NEAR(path.points[i].loss, alone.points[i].loss, 1e-6 * alone.points[i].loss);
      }
    }
  }
}

TEST(CrossValidate, OneSplitHoldsOutTheFirstFoldOnly) {
  ThreadPool pool(1);
  const auto problem = noisy_problem(Family::logistic, pool);
  const Path path = cross_validate(*problem, {.one_split = true});
  EXPECT_EQ(path.splits, 1);
  EXPECT_EQ(path.fits, static_cast<std::int64_t>(path.points.size()));
  EXPECT_GT(path.points[path.best].error, 0);
}

TEST(CrossValidate, WhatCanNotBeSplitIsRefused) {
  ThreadPool pool(1);
  const Problem<double> few(random_matrix(3, 2, 86), Vector<double>{{1, 2, 3}}, {Family::linear, 1, {}, 0}, pool);
  EXPECT_THROW(cross_validate(few), Error);
  EXPECT_THROW(cross_validate(few, {.folds = 1}), Error);
  const Problem<double> empty(DenseMatrix<double>::Zero(9, 2), Vector<double>::Ones(9), {Family::linear, 1, {}, 0},
                              pool);
  EXPECT_THROW(cross_validate(empty), Error);
}

}  // namespace
}  // namespace lipschitzlr::linear

// Where L-BFGS starts by itself: at the optimum of a sample of the rows, or of the space of the rows.

#include <gtest/gtest.h>

#include "base/thread_communicator.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kManyRows = 7001, kFewColumns = 6;  // a sample of a seventh of the rows

SolverOptions tight() { return {.solver = Solver::lbfgs, .gap_tolerance = 1e-11}; }

TEST(RowSample, TheRunStartsNearTheOptimumAndEndsAtIt) {
  ThreadPool pool(2);
  for (const bool sparse : {false, true}) {
    const auto problem = spread_problem<double>(Family::logistic, sparse, pool, nullptr, kManyRows, kFewColumns);
    const auto newton = solve_newton(*problem, {.gap_tolerance = 1e-13}, State<double>{});
    std::vector<double> losses;
    const auto outcome = solve_lbfgs(*problem, tight(), State<double>{}, [&](const Progress& now) {
      losses.push_back(now.loss);
      return true;
    });
    EXPECT_EQ(outcome.stop, Stop::certified);
    EXPECT_LT(losses.front(), 1.02 * newton.last.loss) << "the first loss is the start's";
    EXPECT_LE(outcome.last.loss - newton.last.loss, outcome.certified_gap);
    EXPECT_LT((outcome.state.weights - newton.state.weights).norm(), 1e-5 * newton.state.weights.norm());
    EXPECT_LE(outcome.last.step, 10);
  }
}

TEST(RowSample, WithoutAPenaltyTheHessianOfAllRowsProvesTheGap) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::logistic, pool, kManyRows, kFewColumns);
  const auto outcome = solve_lbfgs(*problem, {}, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  EXPECT_LE(outcome.last.loss - solve_newton(*problem, {.gap_tolerance = 1e-13}, State<double>{}).last.loss,
            outcome.certified_gap);
}

// Fewer than one row of the rare class in the sample: its optimum is far from that of all rows.
TEST(RowSample, ARareClassAndARareColumnAreNotMissed) {
  ThreadPool pool(1);
  const auto common = random_problem(Family::logistic, pool, kManyRows, kFewColumns);
  DenseMatrix<double> x = std::get<DenseMatrix<double>>(common->matrix());
  Vector<double> y = Vector<double>::Zero(kManyRows);
  for (const Index row : {3, 4000, 6999}) y[row] = 1;
  x.col(2).setZero();
  for (const Index row : {4, 500, 6999}) x(row, 2) = 1;
  const Problem<double> problem(x, y, {Family::logistic, 1, {1e-5, {}, false}, 4.0}, pool);
  const auto newton = solve_newton(problem, {.gap_tolerance = 1e-13}, State<double>{});
  const auto outcome = solve_lbfgs(problem, tight(), State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  EXPECT_LT((outcome.state.weights - newton.state.weights).norm(), 1e-4 * newton.state.weights.norm());
}

TEST(RowSample, AResumedRunHasTheSameBits) {
  ThreadPool pool(1);
  const auto problem = spread_problem<double>(Family::logistic, true, pool, nullptr, kManyRows, kFewColumns);
  const auto whole = solve_lbfgs(*problem, tight(), State<double>{});
  ASSERT_GE(whole.last.epoch, 6) << "else the Hessian of all rows is never taken";
  for (std::int64_t epochs = 0; epochs < whole.last.epoch; ++epochs) {
    SolverOptions few = tight();
    few.epochs = epochs;
    const auto part = solve_lbfgs(*problem, few, State<double>{});
    const auto rest = solve_lbfgs(*problem, tight(), state_from_json<double>(to_json(part.state), "test"));
    EXPECT_EQ(rest.state.weights, whole.state.weights) << epochs;
    EXPECT_EQ(rest.last.step, whole.last.step);
  }
}

TEST(RowSample, TheHessianTakesOverFromCoordinatesThatNeedManySteps) {
  ThreadPool pool(1);
  const auto round = random_problem(Family::logistic, pool, 300, 6, {1e-4, {}, true});
  DenseMatrix<double> x = std::get<DenseMatrix<double>>(round->matrix());
  for (Index j = 0; j < 6; ++j) x.col(j) *= std::pow(10.0, static_cast<double>(j) - 3);
  const Problem<double> problem(x, round->targets(), round->setup(), pool);
  SolverOptions options{.coordinates = Coordinates::plain, .gap_tolerance = 1e-11};
  const auto whole = solve_lbfgs(problem, options, State<double>{});
  EXPECT_EQ(whole.stop, Stop::certified);
  ASSERT_GT(whole.last.epoch, 50);
  EXPECT_LT(whole.last.epoch, 70) << "Newton's steps are few";
  for (std::int64_t epochs = 49; epochs < whole.last.epoch; ++epochs) {
    options.epochs = epochs;
    const auto part = solve_lbfgs(problem, options, State<double>{});
    options.epochs = 1000;
    const auto rest = solve_lbfgs(problem, options, state_from_json<double>(to_json(part.state), "test"));
    EXPECT_EQ(rest.state.weights, whole.state.weights) << epochs;
  }
}

TEST(RowSample, ThreadsDoNotChangeABitAndProcessesHardlyADigit) {
  const auto solved = [](unsigned threads, Communicator* communicator) {
    ThreadPool pool(threads);
    return solve_lbfgs(*spread_problem<double>(Family::logistic, true, pool, communicator, kManyRows, kFewColumns),
                       tight(), State<double>{});
  };
  const auto single = solved(1, nullptr);
  for (const unsigned threads : {2u, 7u}) EXPECT_EQ(solved(threads, nullptr).state.weights, single.state.weights);
  for (const auto& outcome :
       test::run_threads<Outcome<double>>(3, [&](Communicator& communicator) { return solved(1, &communicator); })) {
    EXPECT_EQ(outcome.last.step, single.last.step) << "the sample is the same";
    EXPECT_LT((outcome.state.weights - single.state.weights).norm(), 1e-9 * single.state.weights.norm());
  }
}

TEST(RowSpace, FewRowsAreSolvedInTheirSpaceAndProvenInAllFeatures) {
  ThreadPool pool(2);
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    for (const bool spare : {false, true}) {
      const auto dense = random_problem(family, pool, 20, 90, {0.02, {}, spare});
      const SparseMatrix<double> cells = std::get<DenseMatrix<double>>(dense->matrix()).sparseView();
      const Problem<double> sparse(cells, dense->targets(), dense->setup(), pool);
      const auto newton = solve_newton(*dense, {.gap_tolerance = 1e-13}, State<double>{});
      for (const Problem<double>* problem : {static_cast<const Problem<double>*>(dense.get()), &sparse}) {
        const auto outcome = solve_lbfgs(*problem, {.gap_tolerance = 1e-10}, State<double>{});
        EXPECT_EQ(outcome.stop, Stop::certified) << to_string(family);
        EXPECT_EQ(outcome.last.step, 0) << "the start is the optimum";
        EXPECT_LE(outcome.last.loss - newton.last.loss, outcome.certified_gap);
        EXPECT_LT((outcome.state.weights - newton.state.weights).norm(), 1e-4 * newton.state.weights.norm());
      }
    }
  }
}

TEST(RowSpace, RowsThatDependOnOneAnotherAreLeftToTheOtherCoordinates) {
  ThreadPool pool(1);
  const auto plain = random_problem(Family::logistic, pool, 20, 90, {0.02, {}, true});
  DenseMatrix<double> x = std::get<DenseMatrix<double>>(plain->matrix());
  x.row(7) = x.row(3);
  const Problem<double> twice(x, plain->targets(), plain->setup(), pool);
  const auto outcome = solve_lbfgs(twice, {}, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  EXPECT_GT(outcome.last.step, 0);
}

}  // namespace
}  // namespace lipschitzlr::linear

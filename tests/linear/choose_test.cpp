#include "lipschitzlr/linear/choose.hpp"

#include <gtest/gtest.h>

#include "base/thread_communicator.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

TEST(Choose, TheShapeDecidesAndTheReasonNamesIt) {
  const Choice direct = choose_solver({Family::linear, 20640, 9, 1});
  EXPECT_EQ(direct.solver, Solver::newton);
  EXPECT_EQ(direct.reason, "9 weights and 20640 rows: solved directly with the exact Hessian");
  const Choice sampled = choose_solver({Family::logistic, 32561, 124, 1, true});
  EXPECT_EQ(sampled.solver, Solver::lbfgs);
  EXPECT_EQ(sampled.reason,
            "124 weights and 32561 rows: L-BFGS in the coordinates of the Hessian, begun on a sample of the rows");
  EXPECT_EQ(choose_solver({Family::logistic, 569, 31, 1}).solver, Solver::newton) << "without a penalty";
  EXPECT_EQ(choose_solver({.family = Family::logistic, .rows = 569, .features = 31, .penalised = true}).solver,
            Solver::lbfgs);
  EXPECT_EQ(choose_solver({.family = Family::linear, .rows = 200, .features = 401, .penalised = true}).reason,
            "401 weights and 200 rows: solved in the space of the rows, proven by L-BFGS in all weights");
  EXPECT_EQ(choose_solver({Family::softmax, 32561, 24, 3}).solver, Solver::newton);
  EXPECT_NE(choose_solver({Family::logistic, 100, 124, 1, true}).solver, Solver::newton);
  EXPECT_NE(choose_solver({Family::softmax, 60000, 785, 10}).solver, Solver::newton);
  EXPECT_NE(choose_solver({Family::linear, 5000, 100000, 1, true}).solver, Solver::newton);
}

TEST(Choose, TheShapeIsThatOfAllProcesses) {
  for (const bool sparse : {false, true}) {
    ThreadPool one(1);
    const Shape alone = shape_of(*spread_problem<double>(Family::softmax, sparse, one, nullptr));
    EXPECT_EQ(alone.weights(), 12);
    const auto shapes = test::run_threads<Shape>(3, [&](Communicator& communicator) {
      ThreadPool pool(1);
      return shape_of(*spread_problem<double>(Family::softmax, sparse, pool, &communicator));
    });
    for (const Shape& shape : shapes) {
      EXPECT_EQ(shape.rows, kSpreadRows);
      EXPECT_EQ(shape.stored, alone.stored);
      EXPECT_EQ(shape.sparse, sparse);
    }
  }
}

TEST(Choose, SolveRunsTheChosenSolverAndSaysHowItEnded) {
  ThreadPool pool(1);
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    const auto problem = random_problem(family, pool, 80, 5, {0.01, {}});
    const auto outcome = solve(*problem, {}, State<double>{});
    EXPECT_EQ(outcome.choice.solver, family == Family::linear ? Solver::newton : Solver::lbfgs);
    EXPECT_EQ(outcome.stop, Stop::certified);
    EXPECT_EQ(outcome.verdict.rfind("within ", 0), 0u) << outcome.verdict;
    EXPECT_EQ(family == Family::linear, outcome.condition >= 1);
    const auto by_rate = solve(*problem, {.solver = Solver::gd, .epochs = 3}, State<double>{});
    EXPECT_EQ(by_rate.verdict, "not certified: the solver gd computes no bound; take newton or lbfgs");
    EXPECT_THROW(solve(*problem, {.rate = 0.1}, State<double>{}), Error);
    EXPECT_THROW(solve(*problem, {.solver = Solver::newton, .batch = 5}, State<double>{}), Error);
  }
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "linear/newton_path.hpp"

#include <gtest/gtest.h>

#include "linear/problems.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

// Newton's method to a proven 1e-12 for every lambda by itself.
TEST(NewtonPath, EveryLambdaGetsItsOptimumFromOwnMatricesAndThoseOfAnotherFold) {
  ThreadPool pool(2);
  PathMatrices matrices;
  for (const Index rows : {300, 240}) {
    const auto made = [&] {
      const DenseMatrix<double> features = random_matrix(300, 6, 11).topRows(rows);
      return std::make_unique<Problem<double>>(features, random_targets(Family::logistic, features, 2, 12),
                                               ProblemSetup{Family::logistic, 1}, pool);
    };
    const auto problem = made(), reference = made();
    NewtonPath<double> path(*problem, matrices);
    std::size_t number = 0;
    for (double lambda = 0.3; lambda > 1e-8; lambda /= 3, ++number) {
      const Penalty penalty{.l2 = lambda, .spare_last = true};
      const Weights<double> found = path.solve_with(penalty, number);
      reference->set_penalty(penalty);
      Weights<double> gradient;
      const double least = solve_newton(*reference, {.gap_tolerance = 1e-12}, State<double>{}).last.loss;
      const double loss = reference->evaluate(found, gradient);
      EXPECT_LE(loss, least * (1 + 1e-5)) << lambda;
    }
    EXPECT_EQ(matrices.of_lambda.size(), number);
  }
}

TEST(NewtonPath, IsForTwoClassesAndFewColumns) {
  ThreadPool pool(1);
  EXPECT_TRUE(takes_newton_path(*random_problem(Family::logistic, pool)));
  EXPECT_FALSE(takes_newton_path(*random_problem(Family::softmax, pool)));
  EXPECT_FALSE(takes_newton_path(*random_problem(Family::linear, pool)));
  EXPECT_FALSE(takes_newton_path(*random_problem(Family::logistic, pool, 20, 30)));
}

}  // namespace
}  // namespace lipschitzlr::linear

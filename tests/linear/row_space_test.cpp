#include "linear/row_space.hpp"

#include <gtest/gtest.h>

#include "linear/problems.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kRows = 12, kColumns = 40;

// Rows with an intercept, which no penalty holds.
DenseMatrix<double> wide_design(bool centred) {
  DenseMatrix<double> design(kRows, kColumns + 1);
  design << random_matrix(kRows, kColumns, 5), Eigen::VectorXd::Ones(kRows);
  if (centred) design.leftCols(kColumns).rowwise() -= design.leftCols(kColumns).colwise().mean().eval();
  return design;
}

Problem<double> problem_of(const DenseMatrix<double>& design, Family family, ThreadPool& pool) {
  const Index classes = family == Family::softmax ? 3 : 1;
  return {design, random_targets(family, design, 3, 6), {family, classes, {.l2 = 0.1, .spare_last = true}, 1}, pool};
}

TEST(RowSpace, ItsOptimumIsThatOfAllWeights) {
  ThreadPool pool(1);
  for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
    for (const bool centred : {false, true}) {
      const Problem<double> problem = problem_of(wide_design(centred), family, pool);
      const auto found = optimum_in_row_space(problem, 1e-12);
      ASSERT_TRUE(found) << to_string(family) << centred;
      const auto newton = solve(problem, {.solver = Solver::newton, .gap_tolerance = 1e-12}, State<double>{});
      // Intercepts of softmax may all have the same number added.
      const Weights<double> kept = newton.state.weights.topRows(kColumns);
      EXPECT_LT((found->topRows(kColumns) - kept).norm(), 1e-5 * kept.norm()) << to_string(family);
      Weights<double> gradient;
      EXPECT_NEAR(problem.evaluate(*found, gradient), newton.last.loss, 1e-10 * newton.last.loss);
    }
  }
}

TEST(RowSpace, ScoresAndNormAreThoseOfTheWholeProblem) {
  ThreadPool pool(1);
  const DenseMatrix<double> design = wide_design(true);
  const Problem<double> problem = problem_of(design, Family::logistic, pool);
  auto space = RowSpace<double>::of(problem);
  ASSERT_TRUE(space);
  EXPECT_EQ(space->reduced().features(), kRows) << "the rows less one, and the intercept";
  const Weights<double> v = random_matrix(kRows, 1, 7);
  const Weights<double> w = space->expanded(v);
  const auto& reduced = std::get<DenseMatrix<double>>(space->reduced().matrix());
  EXPECT_LT((design * w - reduced * v).norm(), 1e-10);
  EXPECT_NEAR(w.topRows(kColumns).norm(), v.topRows(kRows - 1).norm(), 1e-10);
}

TEST(RowSpace, RowsThatRepeatAndPenaltiesOfAnotherKindHaveNone) {
  ThreadPool pool(1);
  DenseMatrix<double> design = wide_design(true);
  design.row(0) = design.row(1);
  design.row(2) = design.row(3);
  EXPECT_FALSE(RowSpace<double>::of(problem_of(design, Family::logistic, pool)));
  Problem<double> problem = problem_of(wide_design(false), Family::logistic, pool);
  problem.set_penalty({.l1 = 0.1});
  EXPECT_FALSE(RowSpace<double>::of(problem));
  problem.set_penalty({.spare_last = true});
  EXPECT_FALSE(optimum_in_row_space(problem, 1e-6)) << "without a penalty nothing draws the weights into the space";
  EXPECT_FALSE(RowSpace<double>::of(problem_of(wide_design(false).leftCols(20), Family::logistic, pool))) << "not wide";
}

}  // namespace
}  // namespace lipschitzlr::linear

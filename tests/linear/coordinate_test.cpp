#include "lipschitzlr/linear/coordinate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/thread_communicator.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kLassoFamilies[] = {Family::linear, Family::logistic, Family::softmax};
const SolverOptions kExact{.gap_tolerance = 1e-12};

Penalty elastic(double l1, double l2, bool spare) { return {.l2 = l2, .spare_last = spare, .l1 = l1}; }

// The gradient of the rows' mean loss in long double, by plain loops.
Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic> loss_gradient(const Problem<double>& problem,
                                                                         const Weights<double>& w) {
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix x = std::get<DenseMatrix<double>>(problem.matrix()).cast<long double>(), z = x * w.cast<long double>();
  Matrix residuals(z.rows(), z.cols());
  for (Index i = 0; i < z.rows(); ++i) {
    const double y = problem.targets()[i];
    if (problem.setup().family == Family::linear) {
      residuals(i, 0) = z(i, 0) - y;
    } else if (problem.setup().family == Family::logistic) {
      residuals(i, 0) = 1 / (1 + std::exp(-z(i, 0))) - y;
    } else {
      residuals.row(i) = (z.row(i).array() - z.row(i).maxCoeff()).exp();
      residuals.row(i) /= residuals.row(i).sum();
      residuals(i, static_cast<Index>(y)) -= 1;
    }
  }
  return x.transpose() * residuals / static_cast<long double>(z.rows());
}

// How far the conditions of an optimum are from holding: |c| <= l1 at 0, c = -l1 sign(w) elsewhere, c = 0 for a spared
// last row; c with the gradient of l2.
long double violation(const Problem<double>& problem, const Weights<double>& w) {
  const Penalty& penalty = problem.setup().penalty;
  const auto gradient = loss_gradient(problem, w);
  long double worst = 0;
  for (Index j = 0; j < w.rows(); ++j) {
    for (Index c = 0; c < w.cols(); ++c) {
      const bool spared = penalty.spare_last && j + 1 == w.rows();
      const long double g = gradient(j, c) + (spared ? 0 : penalty.l2 * w(j, c));
      const long double off = spared         ? std::abs(g)
                              : w(j, c) == 0 ? std::max(0.0L, std::abs(g) - penalty.l1)
                                             : std::abs(g + std::copysign(penalty.l1, w(j, c)));
      worst = std::max(worst, off);
    }
  }
  return worst;
}

TEST(Coordinate, TheConditionsOfAnOptimumHoldInLongDouble) {
  ThreadPool pool(1);
  for (Family family : kLassoFamilies) {
    for (const double l1 : {0.003, 0.05, 0.3}) {
      for (const double l2 : {0.0, 0.02}) {
        for (const bool spare : {false, true}) {
          const auto problem = random_problem(family, pool, 70, 9, elastic(l1, l2, spare));
          const auto outcome = solve_coordinate(*problem, kExact, State<double>{});
          EXPECT_LT(violation(*problem, outcome.state.weights), 1e-6L)
              << to_string(family) << ", l1 " << l1 << ", l2 " << l2 << ", after " << outcome.last.step;
          EXPECT_LE(outcome.certified_gap, 1e-9 * outcome.last.loss);
        }
      }
    }
  }
}

TEST(Coordinate, MoreColumnsThanRowsLeaveFewWeights) {
  ThreadPool pool(1);
  for (Family family : kLassoFamilies) {
    for (const bool sparse : {false, true}) {
      const Index n = 300;
      DenseMatrix<double> x = random_matrix(40, n, 91);
      const Vector<double> y = random_targets(family, x.leftCols(3), 3, 92);
      if (sparse) x = (x.array().abs() < 0.7).select(0, x);
      const ProblemSetup setup{family, family == Family::softmax ? 3 : 1, elastic(0.1, 0, false), 0};
      const Problem<double> dense(x, y, setup, pool);
      const Problem<double> thin(SparseMatrix<double>(x.sparseView()), y, setup, pool);
      const auto outcome = solve(dense, {.gap_tolerance = 1e-11}, State<double>{});
      EXPECT_EQ(outcome.choice.solver, Solver::coordinate);
      EXPECT_LT(violation(dense, outcome.state.weights), 1e-6L);
      EXPECT_LT((outcome.state.weights.array() != 0).count(), 120);
      const auto other = solve(thin, {.gap_tolerance = 1e-11}, State<double>{});
      EXPECT_LT((other.state.weights - outcome.state.weights).norm(), 1e-4);
    }
  }
}

// Against the lowest value that many more steps find, over weights on the way there.
TEST(Coordinate, TheCertificateIsNeverWrong) {
  ThreadPool pool(1);
  int finite = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const Family family = kLassoFamilies[random.below(3)];
    const Index n = 2 + static_cast<Index>(random.below(8)), m = 5 + static_cast<Index>(random.below(40));
    DenseMatrix<double> x = random_matrix(m, n, seed + 1000);
    x.col(n - 1).setOnes();
    const Index classes = family == Family::softmax ? 3 : 1;
    const Vector<double> y = random_targets(family, x, classes, seed + 2000);
    const Penalty penalty =
        elastic(std::pow(10.0, -3 * random.uniform()), random.below(2) == 0 ? 0 : 0.01, random.below(2) == 0);
    const Problem<double> problem(x, y, {family, classes, penalty, 0}, pool);
    const double lowest = solve_coordinate(problem, {.gap_tolerance = 1e-15}, State<double>{}).last.loss;
    State<double> start;
    start.weights = random_matrix(n, classes, seed + 3000);
    for (const std::int64_t steps : {0, 1, 2, 4}) {
      const auto outcome = solve_coordinate(problem, {.epochs = steps, .gap_tolerance = 1e-14}, start);
      EXPECT_GE(outcome.certified_gap, outcome.last.loss - lowest - 1e-14 * lowest) << "seed " << seed;
      finite += std::isfinite(outcome.certified_gap);
    }
  }
  EXPECT_GT(finite, 1200);
}

TEST(Coordinate, ThreadsAndAResumeDoNotChangeABitAndProcessesHardlyADigit) {
  const Penalty penalty = elastic(0.02, 0.001, true);
  for (Family family : kLassoFamilies) {
    ThreadPool one(1);
    const auto problem = random_problem(family, one, 3000, 9, penalty);
    const auto whole = solve_coordinate(*problem, kExact, State<double>{});
    for (const unsigned threads : {2u, 7u}) {
      ThreadPool pool(threads);
      const auto outcome = solve_coordinate(*random_problem(family, pool, 3000, 9, penalty), kExact, State<double>{});
      EXPECT_EQ(outcome.state.weights, whole.state.weights);
    }
    const auto part = solve_coordinate(*problem, {.epochs = 1, .gap_tolerance = 1e-12}, State<double>{});
    const auto rest = solve_coordinate(*problem, kExact, state_from_json<double>(to_json(part.state), "test"));
    EXPECT_EQ(rest.state.weights, whole.state.weights);
    for (const bool sparse : {false, true}) {
      const auto losses = test::run_threads<double>(3, [&](Communicator& communicator) {
        ThreadPool pool(1);
        const auto spread = spread_problem<double>(family, sparse, pool, &communicator);
        spread->set_penalty(penalty);
        return solve_coordinate(*spread, kExact, State<double>{}).last.loss;
      });
      const auto alone = spread_problem<double>(family, sparse, one, nullptr);
      alone->set_penalty(penalty);
      const double expected = solve_coordinate(*alone, kExact, State<double>{}).last.loss;
      for (const double loss : losses) EXPECT_NEAR(loss, expected, 1e-10 * expected);
    }
  }
}

TEST(Coordinate, OnlyItTakesAnL1Penalty) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::linear, pool, 30, 3, elastic(0.1, 0, false));
  EXPECT_THROW(solve(*problem, {.solver = Solver::newton}, State<double>{}), Error);
  EXPECT_THROW(solve(*problem, {.solver = Solver::gd}, State<double>{}), Error);
  problem->set_penalty(elastic(-1, 0, false));
  EXPECT_THROW(solve(*problem, {}, State<double>{}), Error);
  problem->set_penalty({.tikhonov = bound::Tikhonov(1.0), .l1 = 0.1});
  EXPECT_THROW(solve(*problem, {}, State<double>{}), Error);
}

}  // namespace
}  // namespace lipschitzlr::linear

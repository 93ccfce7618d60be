#include "lipschitzlr/linear/coordinate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/thread_communicator.hpp"
#include "linear/exact.hpp"
#include "linear/gram_lasso.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kLassoFamilies[] = {Family::linear, Family::logistic, Family::softmax};
const SolverOptions kExact{.gap_tolerance = 1e-12};

Penalty elastic(double l1, double l2, bool spare) { return {.l2 = l2, .spare_last = spare, .l1 = l1}; }

// How far the conditions of an optimum are from holding: |c| <= l1 at 0, c = -l1 sign(w) elsewhere, c = 0 for a spared
// last row; c with the gradient of l2.
long double violation(const Problem<double>& problem, const Weights<double>& w) {
  const Penalty& penalty = problem.setup().penalty;
  const RealMatrix gradient = evaluate_exactly(problem, w.cast<Real>()).gradient;  // with that of l2
  long double worst = 0;
  for (Index j = 0; j < w.rows(); ++j) {
    for (Index c = 0; c < w.cols(); ++c) {
      const bool spared = penalty.spare_last && j + 1 == w.rows();
      const long double g = gradient(c * w.rows() + j);
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

// Columns that overlap, one of them twice, and one of zeros; the mean of the targets is not 0.
std::unique_ptr<Problem<double>> overlapping_problem(ThreadPool& pool, bool sparse, bool weighed, bool spare) {
  DenseMatrix<double> x = random_matrix(150, 62, 31);
  x.leftCols(60).colwise() += 2 * x.col(60);
  x.col(3) = x.col(4);
  x.col(60).setZero();
  x.col(61).setOnes();
  const Vector<double> y = (random_targets(Family::linear, x.leftCols(8), 1, 32).array() + 7).matrix();
  const Vector<double> weights = weighed ? Vector<double>(random_matrix(150, 1, 33).cwiseAbs()) : Vector<double>();
  const ProblemSetup setup{Family::linear, 1, elastic(1, 0, spare), 0};
  if (!sparse) return std::make_unique<Problem<double>>(x, y, setup, pool, nullptr, weights);
  return std::make_unique<Problem<double>>(SparseMatrix<double>(x.sparseView()), y, setup, pool, nullptr, weights);
}

TEST(GramLasso, TheConditionsOfAnOptimumHoldInLongDoubleAlongAPath) {
  ThreadPool pool(1);
  for (int kind = 0; kind < 8; ++kind) {
    const bool spare = (kind & 4) != 0;
    const bool weighed = (kind & 2) != 0;
    const auto problem = overlapping_problem(pool, false, weighed, spare);  // for the oracle
    const auto own = overlapping_problem(pool, (kind & 1) != 0, weighed, spare);
    for (const double share : {1.0, 0.5}) {
      auto lasso = gram_lasso(*own);
      ASSERT_TRUE(lasso);
      for (double lambda = 30; lambda > 1e-4; lambda /= 3) {
        const Penalty penalty = with_elastic_net(elastic(0, 0, spare), lambda, share);
        problem->set_penalty(penalty);
        const Weights<double> found = lasso->solve(penalty.l1, penalty.l2, 1e-13);
        EXPECT_LT(violation(*problem, found), 1e-8L) << kind << ", share " << share << ", lambda " << lambda;
      }
    }
  }
}

TEST(GramLasso, ThreadsDoNotChangeABitAndProcessesHardlyADigit) {
  const auto path_of = [](unsigned threads, Communicator* communicator) {
    ThreadPool pool(threads);
    const auto problem = spread_problem<double>(Family::linear, false, pool, communicator);
    auto lasso = gram_lasso(*problem);
    std::vector<Eigen::VectorXd> path;
    for (const double l1 : {0.3, 0.1, 0.01, 0.001}) path.push_back(lasso.value().solve(l1, 0, 1e-13));
    return path;
  };
  const std::vector<Eigen::VectorXd> alone = path_of(1, nullptr);
  for (const unsigned threads : {2u, 7u}) EXPECT_EQ(path_of(threads, nullptr), alone);
  const auto paths = test::run_threads<std::vector<Eigen::VectorXd>>(
      3, [&](Communicator& communicator) { return path_of(1, &communicator); });
  for (const auto& path : paths) {
    EXPECT_EQ(path, paths[0]);
    for (std::size_t i = 0; i < path.size(); ++i) EXPECT_LT((path[i] - alone[i]).norm(), 1e-8);
  }
}

TEST(GramLasso, MeansThatHideTheRestAreLeftToTheRows) {
  ThreadPool pool(1);
  DenseMatrix<double> x = random_matrix(50, 3, 41);
  x.col(2).setOnes();
  const Vector<double> y = x.col(0);
  const ProblemSetup setup{Family::linear, 1, elastic(0.1, 0, true), 0};
  EXPECT_TRUE(gram_lasso(Problem<double>(x, y, setup, pool)));
  x.col(1).array() += 1e6;
  EXPECT_FALSE(gram_lasso(Problem<double>(x, y, setup, pool)));
  EXPECT_FALSE(gram_lasso(*random_problem(Family::logistic, pool)));
}

TEST(Coordinate, SolversWithoutL1RefuseItAndItRefusesTikhonov) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::linear, pool, 30, 3, elastic(0.1, 0, false));
  EXPECT_THROW(solve(*problem, {.solver = Solver::newton}, State<double>{}), Error);
  EXPECT_THROW(solve(*problem, {.solver = Solver::gd}, State<double>{}), Error);
  problem->set_penalty(elastic(-1, 0, false));
  EXPECT_THROW(solve(*problem, {}, State<double>{}), Error);
  problem->set_penalty({.tikhonov = bound::Tikhonov(1.0), .l1 = 0.1});
  EXPECT_THROW(solve(*problem, {}, State<double>{}), Error);
  problem->set_penalty({.tikhonov = bound::Tikhonov(1.0)});
  EXPECT_THROW(solve(*problem, {.solver = Solver::coordinate}, State<double>{}), Error);
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/fista.hpp"

#include <gtest/gtest.h>

#include "base/thread_communicator.hpp"
#include "linear/exact.hpp"
#include "linear/problems.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kFistaFamilies[] = {Family::linear, Family::logistic, Family::softmax};
const SolverOptions kLong{.epochs = 20000, .gap_tolerance = 1e-9};

TEST(Fista, FindsTheMinimumOfEveryFamilyAndPenaltyAndProvesIt) {
  ThreadPool pool(1);
  for (const Family family : kFistaFamilies) {
    for (const double l1 : {0.0, 0.03}) {
      for (const double l2 : {0.0, 0.02}) {
        for (const bool spare : {false, true}) {
          if (l1 + l2 == 0) continue;
          const auto problem = random_problem(family, pool, 70, 6, {.l2 = l2, .spare_last = spare, .l1 = l1});
          const auto outcome = solve_fista(*problem, kLong, State<double>{});
          EXPECT_EQ(outcome.stop, Stop::certified) << to_string(family) << ", " << l1 << ", " << l2;
          const Real lowest = ExactMinimum<double>(*problem).loss();
          EXPECT_LE(static_cast<Real>(outcome.last.loss) - lowest, 1e-9L * lowest);
          EXPECT_EQ(outcome.checks.rises, 0);
        }
      }
    }
  }
}

TEST(Fista, SparseAndFloatFeaturesGiveTheSameModel) {
  ThreadPool pool(1);
  for (const Family family : kFistaFamilies) {
    const Index classes = family == Family::softmax ? 3 : 1;
    DenseMatrix<double> x = random_matrix(60, 7, 41);
    x = (x.array().abs() < 0.5).select(0, x).cast<float>().cast<double>().eval();
    const Vector<double> y = random_targets(family, x, classes, 42).cast<float>().cast<double>();
    const ProblemSetup setup{family, classes, {.l2 = 0.01, .l1 = 0.02}, 0};
    const Problem<double> dense(x, y, setup, pool);
    const Problem<double> thin(SparseMatrix<double>(x.sparseView()), y, setup, pool);
    const Problem<float> single(DenseMatrix<float>(x.cast<float>()), Vector<float>(y.cast<float>()), setup, pool);
    const auto expected = solve_fista(dense, kLong, State<double>{}).state.weights;
    EXPECT_TRUE(solve_fista(thin, kLong, State<double>{}).state.weights.isApprox(expected, 1e-3));
    const auto rough = solve_fista(single, {.epochs = 20000, .gap_tolerance = 1e-6}, State<float>{});
    EXPECT_EQ(rough.stop, Stop::certified);
    EXPECT_TRUE(rough.state.weights.cast<double>().isApprox(expected, 2e-2));
  }
}

TEST(Fista, ThreadsAndAResumeDoNotChangeABitAndProcessesHardlyADigit) {
  const Penalty penalty{.l2 = 0.001, .spare_last = true, .l1 = 0.02};
  for (const Family family : kFistaFamilies) {
    ThreadPool one(1);
    const auto problem = random_problem(family, one, 3000, 9, penalty);
    const auto whole = solve_fista(*problem, kLong, State<double>{});
    ThreadPool seven(7);
    const auto threads = solve_fista(*random_problem(family, seven, 3000, 9, penalty), kLong, State<double>{});
    EXPECT_EQ(threads.state.weights, whole.state.weights);
    const auto part = solve_fista(*problem, {.epochs = 5, .gap_tolerance = 1e-9}, State<double>{});
    const auto rest = solve_fista(*problem, kLong, state_from_json<double>(to_json(part.state), "test"));
    EXPECT_EQ(rest.state.weights, whole.state.weights);
    const SolverOptions brief{.epochs = 12, .gap_tolerance = 1e-9};
    const auto losses = test::run_threads<double>(3, [&](Communicator& communicator) {
      ThreadPool pool(1);
      const auto spread = spread_problem<double>(family, false, pool, &communicator);
      spread->set_penalty(penalty);
      return solve_fista(*spread, brief, State<double>{}).last.loss;
    });
    const auto alone = spread_problem<double>(family, false, one, nullptr);
    alone->set_penalty(penalty);
    const double expected = solve_fista(*alone, brief, State<double>{}).last.loss;
    for (const double loss : losses) EXPECT_NEAR(loss, expected, 1e-10 * expected);
  }
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/newton.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "base/thread_communicator.hpp"
#include "linear/exact.hpp"
#include "linear/problems.hpp"
#include "linear/spread.hpp"

namespace lipschitzlr::linear {
namespace {

const SolverOptions kTight{.gap_tolerance = 1e-10};
constexpr Family kAllFamilies[] = {Family::linear, Family::logistic, Family::softmax};

TEST(Newton, FindsTheOptimumOfEveryFamilyAndProvesIt) {
  ThreadPool pool(1);
  for (Family family : kAllFamilies) {
    for (const double l2 : {1e-3, 0.1}) {
      for (const bool spare : {false, true}) {
        const auto problem = random_problem(family, pool, 80, 5, {l2, {}, spare});
        const auto outcome = solve_newton(*problem, kTight, State<double>{});
        EXPECT_EQ(outcome.stop, Stop::certified) << to_string(family);
        EXPECT_LT(outcome.last.step, 12);
        const Real lowest = ExactMinimum<double>(*problem).loss();
        EXPECT_LT(std::abs(static_cast<Real>(outcome.last.loss) - lowest), 1e-10L * lowest);
        Weights<double> gradient;
        problem->evaluate(outcome.state.weights, gradient);
        EXPECT_LT(gradient.norm(), 1e-5);
      }
    }
  }
}

TEST(Newton, ASparedLastRowIsAGammaWithAZeroThere) {
  ThreadPool pool(1);
  const double l2 = 0.3;
  Vector<double> diagonal = Vector<double>::Constant(4, std::sqrt(l2 / 2));
  diagonal[3] = 0;
  for (Family family : kAllFamilies) {
    const auto spared = random_problem(family, pool, 60, 4, {l2, {}, true});
    const auto tikhonov = random_problem(family, pool, 60, 4, {0, bound::Tikhonov(diagonal)});
    const Weights<double> weights = random_matrix(4, spared->setup().classes, 3);
    Weights<double> one, other;
    EXPECT_NEAR(spared->evaluate(weights, one), tikhonov->evaluate(weights, other), 1e-12);
    EXPECT_LT((one - other).norm(), 1e-12);
    EXPECT_LT((penalty_curvature(spared->setup().penalty, 4) - penalty_curvature(tikhonov->setup().penalty, 4)).norm(),
              1e-12);
    EXPECT_LT((solve_newton(*spared, kTight, State<double>{}).state.weights -
               solve_newton(*tikhonov, kTight, State<double>{}).state.weights)
                  .norm(),
              1e-4);
  }
}

TEST(Newton, SparseAndFloatFeaturesGiveTheSameModel) {
  ThreadPool pool(2);
  for (Family family : kAllFamilies) {
    const auto dense = spread_problem<double>(family, true, pool, nullptr);
    const auto& matrix = std::get<SparseMatrix<double>>(dense->matrix());
    const Problem<double> full(DenseMatrix<double>(matrix), dense->targets(), dense->setup(), pool);
    const auto single = spread_problem<float>(family, true, pool, nullptr);
    const Weights<double> weights = solve_newton(full, kTight, State<double>{}).state.weights;
    EXPECT_LT((solve_newton(*dense, kTight, State<double>{}).state.weights - weights).norm(), 1e-6);
    const auto outcome = solve_newton(*single, {.gap_tolerance = 1e-8}, State<float>{});
    EXPECT_EQ(outcome.stop, Stop::certified);
    EXPECT_LT((outcome.state.weights.cast<double>() - weights).norm(), 1e-3);
  }
}

TEST(Newton, ThreadsDoNotChangeABitAndProcessesHardlyADigit) {
  for (Family family : kAllFamilies) {
    ThreadPool one(1);
    const auto alone = random_problem(family, one, 3000, 9, {0.01, {}});
    const auto expected = solve_newton(*alone, {}, State<double>{}).state.weights;
    for (const unsigned threads : {2u, 7u}) {
      ThreadPool pool(threads);
      EXPECT_EQ(solve_newton(*random_problem(family, pool, 3000, 9, {0.01, {}}), {}, State<double>{}).state.weights,
                expected);
    }
    for (const bool sparse : {false, true}) {
      const auto single = solve_newton(*spread_problem<double>(family, sparse, one, nullptr), {}, State<double>{});
      const auto all = test::run_threads<Outcome<double>>(3, [&](Communicator& communicator) {
        ThreadPool pool(1);
        return solve_newton(*spread_problem<double>(family, sparse, pool, &communicator), {}, State<double>{});
      });
      for (const auto& outcome : all) {
        EXPECT_EQ(outcome.state.weights, all[0].state.weights);
        EXPECT_EQ(outcome.stop, single.stop);
        EXPECT_LT((outcome.state.weights - single.state.weights).norm(), 1e-9 * single.state.weights.norm());
      }
    }
  }
}

TEST(Newton, AResumedRunHasTheSameBits) {
  ThreadPool pool(1);
  for (Family family : {Family::logistic, Family::softmax}) {
    const auto problem = random_problem(family, pool, 60, 5, {1e-4, {}});
    const auto whole = solve_newton(*problem, kTight, State<double>{});
    const auto half = solve_newton(*problem, {.epochs = 2}, State<double>{});
    EXPECT_EQ(half.stop, Stop::epochs);
    const auto rest = solve_newton(*problem, kTight, state_from_json<double>(to_json(half.state), "test"));
    EXPECT_EQ(rest.state.weights, whole.state.weights);
    EXPECT_EQ(rest.last.step, whole.last.step);
  }
}

TEST(Newton, APerfectFitIsProvenToRounding) {
  ThreadPool pool(1);
  const DenseMatrix<double> x = random_matrix(40, 3, 33);
  const Vector<double> y = x * Vector<double>{{3, -0.7, 1e3}};
  const Problem<double> problem(x, y, {Family::linear, 1, {}, 0}, pool);
  const auto outcome = solve(problem, {}, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  EXPECT_EQ(outcome.verdict, "a perfect fit: the loss is 0 to rounding (certified)");
}

TEST(Newton, AConstantTargetIsFittedPerfectly) {
  ThreadPool pool(1);
  DenseMatrix<double> x = random_matrix(20, 2, 5);
  x.conservativeResize(20, 3);
  x.col(2).setOnes();
  const Vector<double> y = Vector<double>::Constant(20, 3.5);
  const Problem<double> problem(x, y, {Family::linear, 1, {}, 0}, pool);
  EXPECT_EQ(solve(problem, {}, State<double>{}).verdict, "a perfect fit: the loss is 0 to rounding (certified)");
  EXPECT_EQ(certified_share(0, 0), 0);
  EXPECT_EQ(certified_share(1e-9, -0.5), 2e-9);
}

TEST(Newton, SeparableClassesWithoutAPenaltyHaveNoOptimum) {
  ThreadPool pool(1);
  const DenseMatrix<double> x{{-2, 1}, {-1, 1}, {1, 1}, {3, 1}};
  const Vector<double> y{{0, 0, 1, 1}};
  const Problem<double> logistic(x, y, {Family::logistic, 1, {}, 0}, pool);
  const Problem<double> softmax(x, y, {Family::softmax, 2, {}, 0}, pool);
  const Problem<double> penalised(x, y, {Family::logistic, 1, {0.1, {}, true}, 0}, pool);
  EXPECT_EQ(solve_newton(logistic, {}, State<double>{}).stop, Stop::separable);
  EXPECT_EQ(solve_newton(softmax, {}, State<double>{}).stop, Stop::separable);
  EXPECT_EQ(solve_newton(penalised, {}, State<double>{}).stop, Stop::certified);
}

TEST(Newton, LeastSquaresHandlesCollinearConstantAndExtremeColumns) {
  ThreadPool pool(1);
  DenseMatrix<double> x = random_matrix(50, 6, 31);
  x.col(2) = x.col(0);
  x.col(3).setZero();
  x.col(4) *= 1e12;
  x.col(5) *= 1e-12;
  const Vector<double> y = random_matrix(50, 1, 32).col(0);
  const Problem<double> problem(x, y, {Family::linear, 1, {}, 0}, pool);
  const auto outcome = solve_newton(problem, kTight, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  const Weights<double>& w = outcome.state.weights;
  EXPECT_NEAR(w(0), w(2), 1e-9);  // the least norm shares the weight out evenly
  EXPECT_EQ(w(3), 0);
  const DenseMatrix<double> kept{{1, 0, 0, 0}, {0, 1, 0, 0},     {0, 0, 0, 0},
                                 {0, 0, 0, 0}, {0, 0, 1e-12, 0}, {0, 0, 0, 1e12}};
  const Vector<double> exact = (x * kept).householderQr().solve(y);
  EXPECT_NEAR(w(0) + w(2), exact[0], 1e-8);
  EXPECT_NEAR(w(1), exact[1], 1e-8);
  EXPECT_NEAR(w(4) * 1e12, exact[2], 1e-8);
  EXPECT_NEAR(w(5) * 1e-12, exact[3], 1e-8);
}

}  // namespace
}  // namespace lipschitzlr::linear

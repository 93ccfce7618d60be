#include "lipschitzlr/linear/lbfgs.hpp"

#include <gtest/gtest.h>

#include "base/thread_communicator.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kThreeFamilies[] = {Family::linear, Family::logistic, Family::softmax};
constexpr Coordinates kAllCoordinates[] = {Coordinates::plain, Coordinates::diagonal, Coordinates::matrix,
                                           Coordinates::sample};

SolverOptions tight(Coordinates coordinates) { return {.coordinates = coordinates, .gap_tolerance = 1e-11}; }

TEST(Lbfgs, FindsTheOptimumOfNewtonsMethodInAnyCoordinates) {
  ThreadPool pool(1);
  for (Family family : kThreeFamilies) {
    for (const bool spare : {false, true}) {
      const auto problem = random_problem(family, pool, 200, 8, {0.01, {}, spare});
      const auto newton = solve_newton(*problem, {.gap_tolerance = 1e-13}, State<double>{});
      for (Coordinates coordinates : kAllCoordinates) {
        const auto outcome = solve_lbfgs(*problem, tight(coordinates), State<double>{});
        EXPECT_EQ(outcome.stop, Stop::certified) << to_string(family);
        EXPECT_LE(outcome.last.loss - newton.last.loss, outcome.certified_gap + 1e-12 * newton.last.loss);
        EXPECT_LT((outcome.state.weights - newton.state.weights).norm(), 1e-4 * newton.state.weights.norm());
      }
    }
  }
}

TEST(Lbfgs, TheConstantsOfTheColumnsUndoTheirScales) {
  ThreadPool pool(1);
  for (Family family : kThreeFamilies) {
    const auto plain = random_problem(family, pool, 300, 6);
    DenseMatrix<double> x = std::get<DenseMatrix<double>>(plain->matrix());
    for (Index j = 0; j < 6; ++j) x.col(j) *= std::pow(10.0, 2 * static_cast<double>(j) - 5);
    const Problem<double> scaled(x, plain->targets(), plain->setup(), pool);
    const SolverOptions options{.epochs = 60, .gap_tolerance = 1e-12};
    const double lowest = solve_newton(*plain, options, State<double>{}).last.loss;
    const auto loss_of = [&](Coordinates coordinates) {
      SolverOptions with = options;
      with.coordinates = coordinates;
      return solve_lbfgs(scaled, with, State<double>{}).last.loss;
    };
    EXPECT_LT(loss_of(Coordinates::diagonal), lowest + 1e-9) << to_string(family);
    EXPECT_LT(loss_of(Coordinates::matrix), lowest + 1e-9) << to_string(family);
    EXPECT_GT(loss_of(Coordinates::plain), lowest + 1e-6) << to_string(family);
  }
}

// A tolerance of the gradient that is not relative to anything would end at the first weights.
TEST(Lbfgs, TinyFeaturesAreLearntAsWell) {
  ThreadPool pool(1);
  for (Family family : kThreeFamilies) {
    const auto large = random_problem(family, pool, 100, 4);
    const DenseMatrix<double> x = std::get<DenseMatrix<double>>(large->matrix()) * 1e-9;
    const Problem<double> tiny(x, large->targets(), large->setup(), pool);
    for (Coordinates coordinates : kAllCoordinates) {
      const double expected = solve_lbfgs(*large, tight(coordinates), State<double>{}).last.loss;
      EXPECT_NEAR(solve_lbfgs(tiny, tight(coordinates), State<double>{}).last.loss, expected, 1e-9 * expected);
    }
  }
}

TEST(Lbfgs, AResumedRunHasTheSameBits) {
  ThreadPool pool(1);
  for (Family family : kThreeFamilies) {
    for (Coordinates coordinates : kAllCoordinates) {
      const auto problem = random_problem(family, pool, 90, 7, {1e-3, {}, true});
      const auto whole = solve_lbfgs(*problem, tight(coordinates), State<double>{});
      for (const std::int64_t epochs : {std::int64_t{1}, whole.last.epoch / 2}) {
        SolverOptions few = tight(coordinates);
        few.epochs = epochs;
        const auto part = solve_lbfgs(*problem, few, State<double>{});
        const auto rest =
            solve_lbfgs(*problem, tight(coordinates), state_from_json<double>(to_json(part.state), "test"));
        EXPECT_EQ(rest.state.weights, whole.state.weights) << to_string(family);
        EXPECT_EQ(rest.last.step, whole.last.step);
      }
    }
  }
}

TEST(Lbfgs, ThreadsDoNotChangeABitAndProcessesHardlyADigit) {
  for (Family family : kThreeFamilies) {
    ThreadPool one(1);
    const auto expected = solve_lbfgs(*random_problem(family, one, 3000, 9, {0.01, {}}), {}, State<double>{});
    for (const unsigned threads : {2u, 7u}) {
      ThreadPool pool(threads);
      const auto outcome = solve_lbfgs(*random_problem(family, pool, 3000, 9, {0.01, {}}), {}, State<double>{});
      EXPECT_EQ(outcome.state.weights, expected.state.weights);
    }
    for (const bool sparse : {false, true}) {
      const SolverOptions options{.gap_tolerance = 1e-12};
      const auto single = solve_lbfgs(*spread_problem<double>(family, sparse, one, nullptr), options, State<double>{});
      const auto all = test::run_threads<Outcome<double>>(3, [&](Communicator& communicator) {
        ThreadPool pool(1);
        return solve_lbfgs(*spread_problem<double>(family, sparse, pool, &communicator), options, State<double>{});
      });
      for (const auto& outcome : all) {
        EXPECT_EQ(outcome.state.weights, all[0].state.weights);
        EXPECT_EQ(outcome.stop, Stop::certified);
        EXPECT_LT((outcome.state.weights - single.state.weights).norm(), 1e-5 * single.state.weights.norm());
      }
    }
  }
}

TEST(Lbfgs, FloatFeaturesAreCertifiedToo) {
  ThreadPool pool(1);
  for (Family family : kThreeFamilies) {
    for (const bool sparse : {false, true}) {
      const auto problem = spread_problem<float>(family, sparse, pool, nullptr);
      const auto outcome = solve_lbfgs(*problem, {.gap_tolerance = 1e-6}, State<float>{});
      EXPECT_EQ(outcome.stop, Stop::certified) << to_string(family);
    }
  }
}

TEST(Lbfgs, WithoutAPenaltySeparableClassesAreNamedAndOthersFound) {
  ThreadPool pool(1);
  const DenseMatrix<double> x{{-2, 1}, {-1, 1}, {1, 1}, {3, 1}};
  const Vector<double> y{{0, 0, 1, 1}}, mixed{{0, 1, 0, 1}};
  EXPECT_EQ(solve_lbfgs(Problem<double>(x, y, {Family::logistic, 1, {}, 0}, pool), {}, State<double>{}).stop,
            Stop::separable);
  EXPECT_EQ(solve_lbfgs(Problem<double>(x, y, {Family::softmax, 2, {}, 0}, pool), {}, State<double>{}).stop,
            Stop::separable);
  const Problem<double> open(x, mixed, {Family::logistic, 1, {}, 0}, pool);
  const auto outcome = solve(open, {.solver = Solver::lbfgs}, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::relative_tolerance);
  EXPECT_TRUE(outcome.verdict.starts_with("not certified: without a penalty only newton")) << outcome.verdict;
  EXPECT_NEAR(outcome.last.loss, solve_newton(open, {}, State<double>{}).last.loss, 1e-6);
}

}  // namespace
}  // namespace lipschitzlr::linear

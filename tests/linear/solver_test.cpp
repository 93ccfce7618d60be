#include "lipschitzlr/linear/solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/lbfgs.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kFamilies[] = {Family::linear, Family::logistic, Family::softmax};
constexpr Solver kRateSolvers[] = {Solver::gd,    Solver::accelerated, Solver::sgd,
                                   Solver::adamo, Solver::rmsprop,     Solver::auto_adam};

class SolverTest : public testing::Test {
 protected:
  ThreadPool pool{1};
};

// The updates of solver.hpp once more, slowly and with the rates written out: G is the constant over all rows, S = G^2
// (no penalty), so K after t updates from zero is (1 - beta^t) times it.
Weights<double> slow_run(const Problem<double>& problem, Solver solver, int steps) {
  const double G = problem.constant(ConstantKind::published).value;
  const double beta = 0.9, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  Weights<double> w = problem.zero_weights(), g, before = w, m = w, v = w;
  double t = 1;
  for (int step = 1; step <= steps; ++step) {
    problem.evaluate(w, g);
    for (Index i = 0; i < w.size(); ++i) {
      double &wi = w.data()[i], &mi = m.data()[i], &vi = v.data()[i];
      const double gi = g.data()[i];
      switch (solver) {
        case Solver::accelerated: {
          const double next_t = (1 + std::sqrt(1 + 4 * t * t)) / 2;
          const double next = wi - gi / G;
          wi = next + (t - 1) / next_t * (next - before.data()[i]);
          before.data()[i] = next;
          if (i + 1 == w.size()) t = next_t;
          break;
        }
        case Solver::adamo:
          mi = beta * mi + (1 - beta) * gi;
          wi -= mi / ((1 - std::pow(beta, step)) * G);
          break;
        case Solver::rmsprop:
          vi = beta * vi + (1 - beta) * gi * gi;
          wi -= (std::sqrt((1 - std::pow(beta, step)) * G * G) + epsilon) / G * gi / (std::sqrt(vi) + epsilon);
          break;
        case Solver::auto_adam: {
          const double K1 = (1 - std::pow(beta1, step)) * G, K2 = (1 - std::pow(beta2, step)) * G * G;
          mi = beta1 * mi + (1 - beta1) * gi;
          vi = beta2 * vi + (1 - beta2) * gi * gi;
          wi -= (std::sqrt(K2) + epsilon) / K1 * mi / (std::sqrt(vi) + epsilon);
          break;
        }
        default:  // gd, sgd
          wi -= gi / G;
      }
    }
  }
  return w;
}

TEST_F(SolverTest, EverySolverFollowsItsFormulaForTenSteps) {
  for (Family family : kFamilies) {
    const auto problem = random_problem(family, pool);
    for (Solver solver : kRateSolvers) {
      SolverOptions options;
      options.solver = solver;
      options.constant = ConstantKind::published;
      options.epochs = 10;
      const auto outcome = solve(*problem, options, State<double>{});
      EXPECT_EQ(outcome.last.step, 10);
      // A rise would restart the accelerated solver, which the slow one does not know.
      ASSERT_TRUE(solver != Solver::accelerated || outcome.checks.rises == 0) << to_string(family);
      const Weights<double> expected = slow_run(*problem, solver, 10);
      EXPECT_LT((outcome.state.weights - expected).norm(), 1e-9 * (1 + expected.norm()))
          << to_string(family) << " " << to_string(solver);
    }
  }
}

TEST_F(SolverTest, OneOverBetaNeverRaisesTheLossAndKeepsItsPromise) {
  for (Family family : kFamilies) {
    for (double l2 : {0.0, 0.1}) {
      const auto problem = random_problem(family, pool, 80, 6, {l2, {}});
      SolverOptions options;
      options.solver = Solver::gd;
      options.epochs = 300;
      const auto outcome = solve(*problem, options, State<double>{});
      EXPECT_EQ(outcome.checks.rises, 0) << to_string(family);
      EXPECT_EQ(outcome.checks.descent_missed, 0) << to_string(family);
      EXPECT_EQ(outcome.checks.measurements, 301);
    }
  }
}

TEST_F(SolverTest, ATooLargeRateIsCaughtRaisingTheLoss) {
  const auto problem = random_problem(Family::linear, pool);
  SolverOptions options;
  options.solver = Solver::gd;
  options.rate = 2.5 * problem->constant(ConstantKind::gradient).rate();
  options.epochs = 20;
  EXPECT_GT(solve(*problem, options, State<double>{}).checks.rises, 0);
}

TEST_F(SolverTest, DivergenceStopsWithTheLastFiniteWeights) {
  const auto problem = random_problem(Family::linear, pool);
  SolverOptions number;
  number.solver = Solver::gd;
  number.rate = 1e120;
  SolverOptions number_in_batches = number;
  number_in_batches.batch = 16;
  SolverOptions rule_in_batches = number_in_batches;
  rule_in_batches.rate.reset();
  rule_in_batches.rule.first_rate = 1e120;
  rule_in_batches.recompute = Recompute::batch;
  for (const SolverOptions& options : {number, number_in_batches, rule_in_batches}) {
    const auto outcome = solve(*problem, options, State<double>{});
    EXPECT_EQ(outcome.stop, Stop::not_finite);
    EXPECT_EQ(outcome.checks.not_finite, 1);
    EXPECT_TRUE(outcome.state.weights.allFinite());
    Weights<double> gradient;
    EXPECT_EQ(problem->evaluate(outcome.state.weights, gradient), outcome.last.loss);
  }
}

TEST_F(SolverTest, AResumedRunHasTheSameBits) {
  for (Solver solver : kRateSolvers) {
    for (Recompute recompute : {Recompute::never, Recompute::epoch, Recompute::batch}) {
      const auto problem = random_problem(Family::softmax, pool, 60, 5, {0.01, {}});
      SolverOptions options;
      options.solver = solver;
      options.constant = ConstantKind::published;
      options.recompute = recompute;
      options.batch = solver == Solver::gd || solver == Solver::accelerated ? 0 : 16;
      options.rule.decay = 1e-3;
      options.epochs = 9;
      const auto whole = solve(*problem, options, State<double>{});
      options.epochs = 4;
      const auto half = solve(*problem, options, State<double>{});
      options.epochs = 9;
      const auto rest = solve(*problem, options, state_from_json<double>(to_json(half.state), "test"));
      EXPECT_EQ(rest.state.weights, whole.state.weights) << to_string(solver) << " " << to_string(recompute);
      EXPECT_EQ(rest.last.loss, whole.last.loss);
      EXPECT_EQ(to_json(rest.state), to_json(whole.state));
    }
  }
}

TEST_F(SolverTest, AStateThatDoesNotFitIsRefused) {
  const auto problem = random_problem(Family::logistic, pool);
  const auto fault_of = [&](auto damage) {
    State<double> state;
    state.weights = problem->zero_weights();
    damage(state);
    try {
      solve(*problem, {}, state);
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::training;
  };
  EXPECT_EQ(fault_of([](State<double>& s) { s.weights = Weights<double>::Zero(2, 1); }), Fault::data);
  EXPECT_EQ(fault_of([](State<double>& s) { s.first = Weights<double>::Ones(1, 1); }), Fault::data);
  EXPECT_EQ(fault_of([](State<double>& s) { s.second = Weights<double>::Ones(5, 2); }), Fault::data);
  EXPECT_EQ(fault_of([](State<double>& s) { s.step = -1; }), Fault::data);
  EXPECT_EQ(fault_of([](State<double>& s) { s.momentum = std::nan(""); }), Fault::data);
}

TEST_F(SolverTest, ThreadsDoNotChangeABit) {
  for (Family family : kFamilies) {
    std::vector<Weights<double>> weights;
    for (unsigned threads : {1u, 2u, 7u}) {
      ThreadPool many(threads);
      const auto problem = random_problem(family, many, 20000, 7);
      for (Index batch : {Index{0}, Index{5000}}) {
        SolverOptions options;
        options.solver = Solver::gd;
        options.batch = batch;
        options.epochs = 5;
        weights.push_back(solve(*problem, options, State<double>{}).state.weights);
      }
    }
    for (std::size_t i = 2; i < weights.size(); ++i) EXPECT_EQ(weights[i], weights[i % 2]) << to_string(family);
  }
}

TEST_F(SolverTest, RecomputedPerEpochTheRateComesFromTheLargestBatch) {
  const auto problem = random_problem(Family::logistic, pool, 50, 4);
  SolverOptions options;
  options.solver = Solver::sgd;
  options.constant = ConstantKind::published;
  options.recompute = Recompute::epoch;
  options.batch = 20;
  options.epochs = 2;
  // The shuffle of the first epoch, drawn again.
  Random random(options.seed);
  std::vector<Index> order(50);
  std::iota(order.begin(), order.end(), Index{0});
  random.shuffle(std::span(order));
  double largest = 0;
  for (std::size_t begin : {0u, 20u, 40u}) {
    double squares = 0;
    const std::size_t size = begin == 40 ? 10 : 20;
    for (std::size_t i = begin; i < begin + size; ++i) {
      squares += std::get<DenseMatrix<double>>(problem->matrix()).row(order[i]).squaredNorm();
    }
    largest = std::max(largest, std::sqrt(squares) / (2 * static_cast<double>(size)));
  }
  EXPECT_NEAR(solve(*problem, options, State<double>{}).last.rate, 1 / largest, 1e-12 / largest);
}

TEST_F(SolverTest, AdaMoPerEpochStartsAtItsFirstRate) {
  const auto problem = random_problem(Family::logistic, pool);
  SolverOptions options;
  options.solver = Solver::adamo;
  options.constant = ConstantKind::published;
  options.recompute = Recompute::epoch;
  options.epochs = 1;
  EXPECT_DOUBLE_EQ(solve(*problem, options, State<double>{}).last.rate, 0.1);
  options.rule.first_rate = 0.5;
  EXPECT_DOUBLE_EQ(solve(*problem, options, State<double>{}).last.rate, 0.5);
  options.epochs = 2;
  const double G = problem->constant(ConstantKind::published).value;
  EXPECT_NEAR(solve(*problem, options, State<double>{}).last.rate, 1 / (0.9 * 0.5 + 0.1 * G), 1e-12);
}

TEST_F(SolverTest, StopsForEachReason) {
  const auto problem = random_problem(Family::linear, pool);
  const auto stop_with = [&](auto change) {
    SolverOptions options;
    options.solver = Solver::gd;
    change(options);
    return solve(*problem, options, State<double>{}).stop;
  };
  EXPECT_EQ(stop_with([](SolverOptions& o) { o.epochs = 3; }), Stop::epochs);
  EXPECT_EQ(stop_with([](SolverOptions& o) { o.loss_threshold = 1e3; }), Stop::loss_threshold);
  EXPECT_EQ(stop_with([](SolverOptions& o) { o.gradient_tolerance = 1e-6; }), Stop::gradient_tolerance);
  EXPECT_EQ(stop_with([](SolverOptions& o) { o.relative_tolerance = 1e-6; }), Stop::relative_tolerance);
  EXPECT_EQ(stop_with([](SolverOptions& o) { o.seconds = 0; }), Stop::seconds);
  const SolverOptions gd{.solver = Solver::gd};
  EXPECT_EQ(solve(*problem, gd, State<double>{}, [](const Progress& now) { return now.epoch < 2; }).stop,
            Stop::interrupted);
}

TEST_F(SolverTest, APublishedBoundThatIsExceededIsReported) {
  // One feature, all rows on the wrong side with large weights: |gradient| -> mean |x| = 1, twice ||X||_F/2m * sqrt(m).
  const Index m = 16;
  const DenseMatrix<double> features = DenseMatrix<double>::Ones(m, 1);
  Problem<double> problem(features, Vector<double>::Zero(m), {Family::logistic, 1, {}, 0}, pool);
  SolverOptions options;
  options.solver = Solver::gd;
  options.constant = ConstantKind::published;
  options.epochs = 0;
  State<double> start;
  start.weights = Weights<double>::Constant(1, 1, 20.0);
  const auto published = solve(problem, options, start).checks;
  EXPECT_EQ(published.bound_exceeded, 1);
  EXPECT_NEAR(published.largest_gradient, 1, 1e-6);
  EXPECT_NEAR(published.claimed_bound, 4.0 / 32, 1e-12);
  options.constant = ConstantKind::certified;
  EXPECT_EQ(solve(problem, options, start).checks.bound_exceeded, 0);
}

TEST_F(SolverTest, LbfgsAndAccelerationFindTheSameOptimum) {
  for (Family family : kFamilies) {
    const auto problem = random_problem(family, pool, 80, 5, {0.05, {}});
    SolverOptions options;
    options.solver = Solver::gd;
    options.epochs = 3000;
    options.gap_tolerance = 1e-12;
    const auto reference = solve_lbfgs(*problem, options, State<double>{});
    EXPECT_LT(reference.last.gradient_norm, 1e-6);
    options.solver = Solver::accelerated;
    options.gradient_tolerance = 1e-9;
    const auto ours = solve(*problem, options, State<double>{});
    EXPECT_EQ(ours.stop, Stop::gradient_tolerance);
    EXPECT_NEAR(ours.last.loss, reference.last.loss, 1e-10);
    EXPECT_LT((ours.state.weights - reference.state.weights).norm(), 1e-4);
  }
}

TEST_F(SolverTest, LbfgsTakesSmallFeaturesForNoOptimum) {
  const DenseMatrix<double> features{{1e-9, 2e-9}, {2e-9, 1e-9}, {-1e-9, 3e-9}, {-2e-9, -1e-9}, {1e-9, -3e-9}};
  const Vector<double> targets{{1, 1, 0, 0, 1}};
  const auto loss_of = [&](double size) {
    const Penalty penalty{.l2 = 0.1 * 1e-18 * size * size};
    Problem<double> problem(DenseMatrix<double>(features * size), targets, {Family::logistic, 1, penalty, 0}, pool);
    SolverOptions options;
    options.epochs = 1000;
    options.solver = Solver::lbfgs;
    return solve(problem, options, State<double>{}).last.loss;
  };
  EXPECT_NEAR(loss_of(1), loss_of(1e9), 1e-9);
}

TEST_F(SolverTest, APerfectFitStopsAtItsRounding) {
  DenseMatrix<double> features(20, 2);
  for (Index i = 0; i < 20; ++i) features.row(i) << 1, 0.1 * static_cast<double>(i);
  const Vector<double> targets = features * Vector<double>{{3, -0.7}};
  Problem<double> problem(features, targets, {Family::linear, 1, {}, 10}, pool);
  SolverOptions options;
  options.solver = Solver::accelerated;
  options.epochs = 100000;
  options.relative_tolerance = 1e-9;
  const auto outcome = solve(problem, options, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::relative_tolerance);
  EXPECT_LT(outcome.last.loss, 1e-25);
  options.solver = Solver::gd;
  EXPECT_EQ(solve(problem, options, State<double>{}).checks.rises, 0);
}

TEST_F(SolverTest, OptionsThatMakeNoSenseAreRefused) {
  const auto problem = random_problem(Family::linear, pool);
  const auto fault_of = [&](auto change) {
    SolverOptions options;
    options.solver = Solver::gd;
    change(options);
    try {
      solve(*problem, options, State<double>{});
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::training;
  };
  EXPECT_EQ(fault_of([](SolverOptions& o) { o.rate = -1; }), Fault::usage);
  EXPECT_EQ(fault_of([](SolverOptions& o) { o.rate = std::nan(""); }), Fault::usage);
  EXPECT_EQ(fault_of([](SolverOptions& o) { o.batch = -1; }), Fault::usage);
  EXPECT_EQ(fault_of([](SolverOptions& o) { o.relative_tolerance = -1; }), Fault::usage);
  EXPECT_EQ(fault_of([](SolverOptions& o) {
              o.rule.beta = 1;
              o.solver = Solver::adamo;
            }),
            Fault::usage);
  EXPECT_EQ(fault_of([](SolverOptions& o) {
              o.batch = 8;
              o.solver = Solver::accelerated;
            }),
            Fault::usage);
}

}  // namespace
}  // namespace lipschitzlr::linear

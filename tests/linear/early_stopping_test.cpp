// --patience in the library: SolverOptions::patience and held_out.
#include <gtest/gtest.h>

#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

SolverOptions stochastic(Solver solver) { return {.solver = solver, .rate = 0.05, .batch = 16, .epochs = 40}; }

// The losses of the first epochs, whatever the weights are; the last one ever after.
auto losses(std::vector<double> given) {
  return [given, next = std::size_t{0}](const Weights<double>&) mutable {
    return given[std::min(next++, given.size() - 1)];
  };
}

TEST(EarlyStopping, KeepsTheWeightsOfTheLowestLossAndStopsWhenPatienceIsOver) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::logistic, pool);
  for (const Solver solver : {Solver::sgd, Solver::gd, Solver::adamo, Solver::rmsprop, Solver::auto_adam}) {
    SolverOptions options = stochastic(solver);
    options.epochs = 2;
    const auto best = solve(*problem, options, State<double>{});
    options.epochs = 40;
    options.patience = 3;
    options.held_out = losses({5, 4, 3, 3.5, 3, 3.25, 1});
    const auto outcome = solve(*problem, options, State<double>{});
    EXPECT_EQ(outcome.stop, Stop::patience) << to_string(solver);
    EXPECT_EQ(outcome.last.epoch, 5);
    EXPECT_EQ(outcome.state.best_epoch, 2);
    EXPECT_EQ(outcome.state.best_loss, 3);
    EXPECT_EQ(outcome.weights(), best.state.weights);
    EXPECT_EQ(outcome.last.loss, best.last.loss);
    EXPECT_EQ(outcome.last.held_out_loss, 3);
    EXPECT_NE(outcome.state.weights, outcome.weights());
  }
}

TEST(EarlyStopping, ALossThatIsNoNumberIsNeverTheLowest) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::linear, pool);
  SolverOptions options = stochastic(Solver::sgd);
  options.patience = 2;
  options.held_out = losses({5, std::nan(""), 4, std::nan("")});
  const auto outcome = solve(*problem, options, State<double>{});
  EXPECT_EQ(outcome.state.best_epoch, 2);
  EXPECT_EQ(outcome.last.epoch, 4);
}

TEST(EarlyStopping, AResumedRunHasTheSameBits) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::softmax, pool);
  const DenseMatrix<double> held = random_matrix(20, 5, 77);
  const Vector<double> target = random_targets(Family::softmax, held, 3, 78);
  SolverOptions options = stochastic(Solver::sgd);
  options.rate = 2;
  options.patience = 4;
  options.held_out = [&](const Weights<double>& weights) {
    return measure(Family::softmax, scores(held, weights, pool), target, 3, {}).loss;
  };
  const auto whole = solve(*problem, options, State<double>{});
  ASSERT_EQ(whole.stop, Stop::patience);
  for (std::int64_t epochs = 0; epochs < whole.last.epoch; ++epochs) {
    SolverOptions first = options;
    first.epochs = epochs;
    const auto part = solve(*problem, first, State<double>{});
    EXPECT_EQ(part.stop, Stop::epochs);
    const auto rest = solve(*problem, options, state_from_json<double>(to_json(part.state), "test"));
    EXPECT_EQ(rest.weights(), whole.weights());
    EXPECT_EQ(rest.last.epoch, whole.last.epoch);
    EXPECT_EQ(rest.state.best_loss, whole.state.best_loss);
  }
}

TEST(EarlyStopping, WithoutRowsHeldOutOrForASolverThatEndsAtTheOptimumItIsRefused) {
  ThreadPool pool(1);
  const auto problem = random_problem(Family::linear, pool);
  SolverOptions options = stochastic(Solver::sgd);
  options.patience = 2;
  EXPECT_THROW(solve(*problem, options, State<double>{}), Error);
  options.held_out = losses({1});
  options.patience = -1;
  EXPECT_THROW(solve(*problem, options, State<double>{}), Error);
  SolverOptions certified{.solver = Solver::newton, .patience = 2, .held_out = losses({1})};
  EXPECT_THROW(solve(*problem, certified, State<double>{}), Error);
}

}  // namespace
}  // namespace lipschitzlr::linear

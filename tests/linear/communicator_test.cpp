#include <gtest/gtest.h>

#include "base/thread_communicator.hpp"
#include "linear/spread.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

using test::run_threads;

void expect_same_numbers(const std::vector<SpreadCase>& cases) {
  for (const SpreadCase& spread : cases) {
    const Numbers one = spread.run(nullptr);
    for (const int size : {1, 2, 3, 4}) {
      const auto all =
          run_threads<Numbers>(size, [&](Communicator& communicator) { return spread.run(&communicator); });
      for (const Numbers& numbers : all) EXPECT_EQ(numbers, all[0]) << spread.name << ", other bits in a rank";
      EXPECT_EQ(difference(spread, one, all[0]), "") << size << " processes";
    }
  }
}

TEST(Communicator, LossesGradientsAndConstantsAreThoseOfOneProcess) { expect_same_numbers(measured_cases()); }

TEST(Communicator, EverySolverGivesTheWeightsOfOneProcess) { expect_same_numbers(all_solver_cases()); }

TEST(Communicator, GetsTheAdviceOfOneProcess) { expect_same_numbers(advice_cases()); }

TEST(Communicator, AnInterruptInOneProcessStopsAllAfterTheSameStep) {
  const auto outcomes = run_threads<Outcome<double>>(3, [](Communicator& communicator) {
    ThreadPool pool(1);
    const auto problem = spread_problem<double>(Family::logistic, false, pool, &communicator);
    const Observer observer = [&](const Progress& now) { return communicator.rank() != 2 || now.epoch != 4; };
    SolverOptions options;
    options.solver = Solver::gd;
    options.epochs = 1'000'000'000;
    return solve(*problem, options, State<double>{}, observer);
  });
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.stop, Stop::interrupted);
    EXPECT_GE(outcome.last.epoch, 4);
    EXPECT_EQ(outcome.last.epoch, outcomes[0].last.epoch);
    EXPECT_EQ(outcome.state.weights, outcomes[0].state.weights);
  }
}

TEST(Communicator, ATimeLimitStopsAllAfterTheSameStep) {
  for (const bool searches : {false, true}) {
    const auto outcomes = run_threads<Outcome<double>>(3, [=](Communicator& communicator) {
      ThreadPool pool(1);
      const auto problem = spread_problem<double>(Family::logistic, false, pool, &communicator);
      SolverOptions options;
      options.solver = Solver::gd;
      options.epochs = 1'000'000'000;
      options.seconds = 0.01;
      options.gap_tolerance = 1e-300;
      return searches ? solve_lbfgs(*problem, options, State<double>{}) : solve(*problem, options, State<double>{});
    });
    for (const auto& outcome : outcomes) {
      EXPECT_EQ(outcome.stop, outcomes[0].stop);
      EXPECT_EQ(outcome.last.epoch, outcomes[0].last.epoch);
    }
  }
}

TEST(Communicator, ARowThatNobodyHasIsRefusedByAll) {
  const auto refused = run_threads<int>(2, [](Communicator& communicator) {
    ThreadPool pool(1);
    const auto problem = spread_problem<double>(Family::linear, false, pool, &communicator);
    Weights<double> gradient;
    int count = 0;
    for (const std::vector<Index>& rows : {std::vector<Index>{0, kSpreadRows}, {-1}, {}}) {
      try {
        problem->evaluate(problem->zero_weights(), gradient, rows);
      } catch (const Error& error) {
        count += error.fault() == Fault::data;
      }
    }
    return count;
  });
  EXPECT_EQ(refused, (std::vector<int>{3, 3}));
}

TEST(Together, GathersPartsOfAnySizeInOrderOfRank) {
  const auto gathered = run_threads<std::vector<double>>(4, [](Communicator& communicator) {
    const int rank = communicator.rank();
    return all_gather(&communicator,
                      std::vector<double>(static_cast<std::size_t>(rank == 1 ? 0 : rank + 1), rank + 0.1));
  });
  for (const auto& all : gathered) EXPECT_EQ(all, (std::vector<double>{0.1, 2.1, 2.1, 2.1, 3.1, 3.1, 3.1, 3.1}));
  EXPECT_EQ(all_gather(nullptr, {1, 2}), (std::vector<double>{1, 2}));
}

TEST(Together, WhatIsNoNumberSomewhereIsNoneForAll) {
  const auto largest = run_threads<double>(3, [](Communicator& communicator) {
    return all_reduce_max(&communicator, communicator.rank() == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0);
  });
  for (const double value : largest) EXPECT_TRUE(std::isnan(value));
  const auto negative = run_threads<double>(
      3, [](Communicator& communicator) { return all_reduce_max(&communicator, -5.0 - communicator.rank()); });
  EXPECT_EQ(negative, (std::vector<double>{-5, -5, -5}));
}

TEST(Together, TheTextOfTheFirstReachesAll) {
  for (const std::string text : {"a text", ""}) {
    const auto texts = run_threads<std::string>(3, [&](Communicator& communicator) {
      return broadcast(&communicator, communicator.is_root() ? text : "something of its own");
    });
    EXPECT_EQ(texts, (std::vector<std::string>{text, text, text}));
  }
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "lipschitzlr/experiment/linear_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/experiment/output.hpp"

namespace lipschitzlr::experiment {
namespace {

std::vector<Row> run(const std::string& table, const std::string& name, const Limits& limits, unsigned threads = 1) {
  ThreadPool pool(threads);
  return run_rows(select_recipes(table, {name}), limits, pool);
}

TEST(LinearRunner, RunsEveryRateFromEverySeed) {
  const Limits limits{.seeds = 2, .max_iterations = 2000};
  const Row result = run("table1", "iris", limits).at(0);
  EXPECT_EQ(result.seeds_done, 2);
  ASSERT_EQ(result.runs.size(), 10u);
  const std::vector<std::string> names = {"baseline", "published", "coded", "certified", "gradient"};
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.runs[i].rate_name, names[i % 5]);
    EXPECT_EQ(result.runs[i].seed, i < 5 ? 1u : 2u);
  }
  EXPECT_EQ(result.runs[0].rate, 0.1);
  EXPECT_EQ(result.runs[1].iterations, result.runs[2].iterations);  // one formula, one training
  EXPECT_LT(result.runs[2].loss, 0.2);
}

TEST(LinearRunner, ACountThatWasCutShortIsNotComplete) {
  const Row result = run("table1", "boston", {.seeds = 1, .max_iterations = 100}).at(0);
  const Spread coded = iterations_of(result, "coded");
  EXPECT_EQ(coded.most, 100);
  EXPECT_FALSE(coded.complete);
  EXPECT_GT(result.runs[2].loss, 200);
}

TEST(LinearRunner, WithoutTimeNothingRunsAndNothingFails) {
  const Row result = run("table1", "boston", {.seconds = 1e-9}).at(0);
  EXPECT_TRUE(result.out_of_time);
  EXPECT_TRUE(result.runs.empty());
}

// A baseline that never gets there takes the time that is left, not that of the others.
TEST(LinearRunner, ABudgetIsSharedOutOverTheRates) {
  Recipe recipe = select_recipes("table1", {"boston"}).at(0);
  recipe.linear->baseline_rate = 1e-9;
  ThreadPool pool(1);
  const Limits limits{.seeds = 3, .max_iterations = 1000000000, .seconds = 5};
  const Row result = run_rows({recipe}, limits, pool).at(0);
  EXPECT_TRUE(result.out_of_time);
  ASSERT_FALSE(result.runs.empty());
  EXPECT_EQ(result.runs[0].rate_name, "baseline");
  EXPECT_TRUE(iterations_of(result, "coded").complete);
  EXPECT_TRUE(rate_of(result, "baseline").complete);
}

TEST(LinearRunner, AnInterruptEndsTheRunningTrainingAndKeepsWhatIsFinished) {
  ThreadPool pool(1);
  int questions = 0;
  const Limits limits{.seeds = 1, .max_iterations = 100000};
  // Iris asks some hundred times, once a measurement; Boston's comparisons and 46,000 steps with 0.1 are cut.
  const auto results = run_rows({select_recipes("table1", {"iris"}).at(0), select_recipes("table1", {"boston"}).at(0),
                                 select_recipes("table1", {"digits"}).at(0)},
                                limits, pool, {}, [&] { return ++questions > 5000; });
  EXPECT_FALSE(results[0].interrupted);
  EXPECT_EQ(results[0].runs.size(), 5u);
  EXPECT_TRUE(results[1].interrupted);
  EXPECT_EQ(std::count_if(results[1].runs.begin(), results[1].runs.end(),
                          [](const auto& one) { return one.stop == linear::Stop::interrupted; }),
            1);
  EXPECT_EQ(results[1].seeds_done, 0);
  EXPECT_TRUE(results[2].runs.empty());
  EXPECT_NE(to_text(results).find("Interrupted before this row."), std::string::npos);
}

TEST(LinearRunner, TheListOfRowsFitsAHundredColumns) {
  const std::string text = list_text(rows_of(recipes(), {}));
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
  }
}

TEST(LinearRunner, EpochsAreNoMatterOfARowThatCountsIterations) {
  const Limits limits{.seeds = 1, .max_iterations = 10, .epochs = 5};
  EXPECT_EQ(to_text(run("table1", "iris", limits)).find("--epochs"), std::string::npos);
}

TEST(LinearRunner, ASetThatIsNotAvailableIsNamed) {
  const char* const before = std::getenv("LIPSCHITZLR_DATA");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("LIPSCHITZLR_DATA", LIPSCHITZLR_TEST_DIR "/experiment/no-such-folder", 1);
  const auto results = run("table2", "mnist", {});
  ::setenv("LIPSCHITZLR_DATA", kept.c_str(), 1);  // empty counts as not set
  EXPECT_EQ(results[0].absent, (std::vector<std::string>{"mnist", "mnist-test"}));
  EXPECT_TRUE(results[0].runs.empty());
  EXPECT_NE(to_text(results).find("lipschitzlr data get mnist mnist-test"), std::string::npos);
}

TEST(LinearRunner, OutputHasTheSameBytesForAnyNumberOfThreads) {
  const Limits limits{.seeds = 2, .max_iterations = 200, .epochs = 20};
  for (const auto& [table, name] : {std::pair{"table1", "digits"}, {"table2", "breast-cancer"}}) {
    const std::string one = to_json(run(table, name, limits, 1));
    EXPECT_EQ(one, to_json(run(table, name, limits, 2)));
    EXPECT_EQ(one, to_json(run(table, name, limits, 7)));
  }
}

TEST(LinearRunner, TextFitsAHundredColumnsAndCsvHasALinePerTraining) {
  const Limits limits{.seeds = 2, .max_iterations = 50, .epochs = 5};
  for (const auto& [table, name] : {std::pair{"table1", "digits"}, {"table2", "iris"}}) {
    const auto results = run(table, name, limits);
    const std::string text = to_text(results);
    for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      ASSERT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    }
    const std::string csv = to_csv(results);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 11);
  }
}

TEST(LinearRunner, ReadsTimesWithAUnit) {
  EXPECT_EQ(seconds_from("90s"), 90);
  EXPECT_EQ(seconds_from("30m"), 1800);
  EXPECT_EQ(seconds_from("1.5h"), 5400);
  EXPECT_EQ(seconds_from("12"), 12);
  for (const std::string text : {"", "m", "-3s", "5d", "0", "inf"}) EXPECT_THROW(seconds_from(text), Error) << text;
}

}  // namespace
}  // namespace lipschitzlr::experiment

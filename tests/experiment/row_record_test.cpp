#include "lipschitzlr/experiment/row_record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/output.hpp"

namespace lipschitzlr::experiment {
namespace {

class RowRecord : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder); }

  static RowResult run(const Recipe& recipe, const RunLimits& limits) {
    ThreadPool pool(1);
    return run_rows({recipe}, limits, pool).at(0);
  }

  std::string folder = testing::TempDir() + "lipschitzlr_rows_" + std::to_string(getpid());
  const Recipe iris = select_recipes("table1", {"iris"}).at(0);
  const RunLimits limits{.seeds = 2, .max_iterations = 500};
};

// Digits has a loss that is not a number, Table 2's iris rows held out, Boston counts that were cut short.
TEST_F(RowRecord, GivesBackEveryByteOfWhatWasMeasured) {
  for (const auto& [table, name] : {std::pair{"table1", "digits"}, {"table2", "iris"}, {"table1", "boston"}}) {
    const Recipe recipe = select_recipes(table, {name}).at(0);
    RunLimits few = limits;
    few.epochs = 7;
    const RowResult result = run(recipe, few);
    write_row(folder, result, few);
    const auto read = read_row(folder, recipe, few);
    ASSERT_TRUE(read) << name;
    EXPECT_TRUE(read->whole());
    EXPECT_EQ(to_json({*read}, few), to_json({result}, few));
    EXPECT_EQ(to_text({*read}, few), to_text({result}, few));
    EXPECT_EQ(to_csv({*read}), to_csv({result}));
  }
}

TEST_F(RowRecord, OfOtherLimitsIsNotTheRow) {
  write_row(folder, run(iris, limits), limits);
  EXPECT_TRUE(read_row(folder, iris, limits));
  EXPECT_TRUE(read_row(folder, iris, {.seeds = 2, .max_iterations = 500, .seconds = 3}));
  EXPECT_TRUE(read_row(folder, iris, {.seeds = 2, .max_iterations = 500, .epochs = 9}));  // no matter of this table
  EXPECT_FALSE(read_row(folder, iris, {.seeds = 3, .max_iterations = 500}));
  EXPECT_FALSE(read_row(folder, iris, {.seeds = 2, .max_iterations = 501}));
  EXPECT_FALSE(read_row(folder, select_recipes("table2", {"iris"}).at(0), limits));
}

TEST_F(RowRecord, OfMoreSeedsHoldsThoseOfFewer) {
  write_row(folder, run(iris, limits), limits);
  const RunLimits one{.seeds = 1, .max_iterations = 500};
  EXPECT_EQ(to_json({*read_row(folder, iris, one)}, one), to_json({run(iris, one)}, one));
}

TEST_F(RowRecord, OfATrainingCutShortSaysSo) {
  RowResult result = run(iris, limits);
  result.interrupted = true;
  result.seeds_done = 1;
  write_row(folder, result, limits);
  EXPECT_FALSE(read_row(folder, iris, limits)->whole());
  EXPECT_TRUE(read_row(folder, iris, {.seeds = 1, .max_iterations = 500})->whole());
}

TEST_F(RowRecord, ThatIsDamagedIsNone) {
  EXPECT_FALSE(read_row(folder, iris, limits));
  write_row(folder, run(iris, limits), limits);
  const std::string whole = read_file(row_record(folder, iris));
  for (const std::size_t length : {std::size_t{0}, whole.size() / 2}) {
    write_file_atomically(row_record(folder, iris), whole.substr(0, length));
    EXPECT_FALSE(read_row(folder, iris, limits));
  }
  std::string other = whole;
  other.replace(other.find("the loss fell"), 13, "the moon rose");
  write_file_atomically(row_record(folder, iris), other);
  EXPECT_FALSE(read_row(folder, iris, limits));
}

}  // namespace
}  // namespace lipschitzlr::experiment

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/linear_runner.hpp"
#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/experiment/verdict.hpp"

namespace lipschitzlr::experiment {
namespace {

class RowFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder); }

  static Row run(const Recipe& recipe, const Limits& limits) {
    ThreadPool pool(1);
    return run_rows({recipe}, limits, pool).at(0);
  }

  std::optional<Row> read(const Recipe& recipe, const Limits& asked) const {
    return measured_row(collect({folder}), recipe, asked);
  }

  std::string folder = testing::TempDir() + "lipschitzlr_rows_" + std::to_string(getpid());
  const Recipe iris = select_recipes("table1", {"iris"}).at(0);
  const Limits limits{.seeds = 2, .max_iterations = 500};
};

// Digits has a loss that is not a number, Table 2's iris rows held out, Boston counts that were cut short.
TEST_F(RowFile, GivesBackEveryByteOfWhatWasMeasured) {
  for (const auto& [table, name] : {std::pair{"table1", "digits"}, {"table2", "iris"}, {"table1", "boston"}}) {
    const Recipe recipe = select_recipes(table, {name}).at(0);
    Limits few = limits;
    few.epochs = 7;
    const Row result = run(recipe, few);
    write_row(folder, result);
    const auto kept = read(recipe, few);
    ASSERT_TRUE(kept) << name;
    EXPECT_TRUE(kept->whole());
    EXPECT_EQ(to_json({*kept}), to_json({result}));
    EXPECT_EQ(to_text({*kept}), to_text({result}));
    EXPECT_EQ(to_csv({*kept}), to_csv({result}));
  }
}

TEST_F(RowFile, GivesBackTheEpochsOfARowThatIsJudgedInItsBest) {
  Recipe recipe = select_recipes("table2", {"iris"}).at(0);
  recipe.linear->batch = 8;
  recipe.linear->best_epoch = recipe.linear->clipped = true;
  recipe.linear->start = Start::zero;  // else every row may be lost at once, and without a gradient
  recipe.linear->paper.losses = {1.2, 0.9};
  Limits few = limits;
  few.epochs = 5;
  const Row result = run(recipe, few);
  const auto& first = *runs_behind(result, "baseline").at(0);
  ASSERT_EQ(first.epoch_losses.size(), 5u);
  ASSERT_EQ(first.epoch_accuracies.size(), 5u);
  EXPECT_GT(first.epoch_losses[0], 0);
  EXPECT_EQ(first.accuracy, *std::max_element(first.epoch_accuracies.begin(), first.epoch_accuracies.end()));
  EXPECT_EQ(first.last_accuracy, first.epoch_accuracies.back());
  write_row(folder, result);
  const auto kept = read(recipe, few);
  ASSERT_TRUE(kept);
  EXPECT_EQ(to_json({*kept}), to_json({result}));
  EXPECT_EQ(to_text({*kept}), to_text({result}));
}

TEST_F(RowFile, OfOtherLimitsIsNotTheRow) {
  write_row(folder, run(iris, limits));
  EXPECT_TRUE(read(iris, limits));
  EXPECT_TRUE(read(iris, {.seeds = 2, .max_iterations = 500, .seconds = 3}));
  EXPECT_TRUE(read(iris, {.seeds = 2, .max_iterations = 500, .epochs = 9}));  // no matter of this table
  EXPECT_FALSE(read(iris, {.seeds = 3, .max_iterations = 500}));
  EXPECT_FALSE(read(iris, {.seeds = 2, .max_iterations = 501}));
  EXPECT_FALSE(read(select_recipes("table2", {"iris"}).at(0), limits));
}

TEST_F(RowFile, OfMoreSeedsHoldsThoseOfFewer) {
  write_row(folder, run(iris, limits));
  const Limits one{.seeds = 1, .max_iterations = 500};
  EXPECT_EQ(to_json({*read(iris, one)}), to_json({run(iris, one)}));
}

TEST_F(RowFile, OfATrainingCutShortSaysSo) {
  Row result = run(iris, limits);
  result.interrupted = true;
  result.seeds_done = 1;
  write_row(folder, result);
  EXPECT_FALSE(read(iris, limits)->whole());
  EXPECT_TRUE(read(iris, {.seeds = 1, .max_iterations = 500})->whole());
}

TEST_F(RowFile, ThatIsDamagedIsNone) {
  EXPECT_FALSE(read(iris, limits));
  write_row(folder, run(iris, limits));
  const std::string whole = read_file(folder + "/table1-iris.json");
  for (const std::size_t length : {std::size_t{0}, whole.size() / 2}) {
    write_file_atomically(folder + "/table1-iris.json", whole.substr(0, length));
    EXPECT_FALSE(read(iris, limits));
  }
  std::string other = whole;
  other.replace(other.find("the loss fell"), 13, "the moon rose");
  write_file_atomically(folder + "/table1-iris.json", other);
  EXPECT_FALSE(read(iris, limits));
}

// Files of older versions hold verdicts; the rules may have changed since.
TEST_F(RowFile, HoldsNoVerdictAndOneInItIsNotRead) {
  write_row(folder, run(iris, limits));
  const std::string path = folder + "/table1-iris.json";
  nlohmann::json file = nlohmann::json::parse(read_file(path));
  EXPECT_FALSE(file["rows"][0].contains("verdict"));
  const std::string truth = judge(*read(iris, limits)).word;
  file["rows"][0]["verdict"] = "wonderful";
  file["rows"][0]["notes"] = {"By hand."};
  file.erase("version");
  write_file_atomically(path, file.dump());
  const Row row = rows_of({iris}, collect({folder})).at(0);
  EXPECT_EQ(judge(row).word, truth);
  EXPECT_EQ(notes_of(row), notes_of(*read(iris, limits)));
}

}  // namespace
}  // namespace lipschitzlr::experiment

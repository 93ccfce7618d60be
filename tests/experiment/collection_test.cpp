#include "lipschitzlr/experiment/collection.hpp"

#include "run/scratch.hpp"

namespace lipschitzlr::experiment {
namespace {

constexpr const char* kTable = R"({"table": "table1", "seeds": 2, "max_iterations": 1000, "rows": [
  {"name": "iris", "seeds_done": 2,
   "runs": [{"rate_name": "coded", "seed": 1, "rate": 1.9, "iterations": 24, "complete": true, "loss": 0.19, "stop": "the loss fell below the threshold"},
            {"rate_name": "coded", "seed": 2, "rate": 1.94, "iterations": 48, "complete": false, "loss": 0.19, "stop": "all epochs are done"}]}]})";

class CollectionTest : public Scratch {
 protected:
  Collection collect_in(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(folder + "/" + name);
    return collect(paths);
  }
};

TEST_F(CollectionTest, FindsRecordsAndTablesAtAnyDepthOnce) {
  write_network_record("runs/deep/b");
  write_network_record("runs/a");
  write("runs/table1.json", kTable);
  write("runs/other.json", "{\"a\": 1}");
  write("runs/notes.txt", "no record");
  const Collection found = collect_in({"runs", "runs/a", "runs/a/config.json", "runs/table1.json"});
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.records[0].name(), "a");
  EXPECT_EQ(found.records[1].name(), "b");
  ASSERT_EQ(found.measured.size(), 1u);
}

TEST_F(CollectionTest, KnowsTheSpeedsMeasuredAndDoesWithoutDamagedOnes) {
  write_network_record("runs/a");
  write("runs/speeds.json", R"([{"data": "mnist", "network": "mnist-cnn", "batch": 256, "step_seconds": 0.002,
                                 "forward_seconds": 0.001}])");
  ASSERT_EQ(collect_in({"runs"}).speeds.size(), 1u);
  EXPECT_EQ(collect_in({"runs"}).speeds[0].network, "mnist-cnn");
  write("runs/speeds.json", "[{");
  EXPECT_TRUE(collect_in({"runs"}).speeds.empty());
  EXPECT_EQ(collect_in({"runs"}).records.size(), 1u);
}

TEST_F(CollectionTest, WhatIsNamedAndNotThereIsKeptAsMissing) {
  write("empty/notes.txt", "nothing");
  const Collection found = collect_in({"nowhere", "empty"});
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.records[0].faults[0], "There is no such file or folder.");
  EXPECT_EQ(found.records[1].faults[0], "There is no record in this folder.");
  for (const run::Record& record : found.records) EXPECT_EQ(record.state, run::RecordState::missing);
}

TEST_F(CollectionTest, ReadsTheTrainingsOfATableAndComputesItsFigures) {
  write("table1.json", kTable);
  const Collection found = collect_in({"table1.json"});
  const Row row = rows_of({*find_recipe("table1/iris")}, found).at(0);
  EXPECT_EQ(row.file, folder + "/table1.json");
  EXPECT_EQ(rate_of(row, "coded").mean, 1.92);
  EXPECT_EQ(iterations_of(row, "coded").most, 48);
  EXPECT_FALSE(iterations_of(row, "coded").complete);
  EXPECT_EQ(row.command(),
            (std::vector<std::string>{"reproduce", "table1", "iris", "--seeds", "2", "--max-iterations", "1000"}));
}

TEST_F(CollectionTest, TrainingsOfAnotherTypeAreLeftOutAndSaid) {
  write("odd.json", R"({"table": "table1", "rows": [{"name": "boston", "notes": 3, "absent": 1, "runs": [3,
                        {"rate_name": "coded", "seed": 1, "rate": 8, "iterations": 9, "stop": "the moon rose"}]},
                        {"runs": "x"}]})");
  const Collection found = collect_in({"odd.json"});
  ASSERT_EQ(found.measured.size(), 2u);
  EXPECT_TRUE(found.measured[0].runs.empty() && found.measured[0].absent.empty() && found.measured[0].damaged);
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_EQ(found.records[0].state, run::RecordState::damaged);
  EXPECT_EQ(found.records[0].faults[0], "Trainings of the row boston can't be read; the others are shown.");
}

TEST_F(CollectionTest, ATableThatIsCutShortEmptyOrSomethingElseSaysSo) {
  write("cut.json", std::string(kTable).substr(0, 100));
  write("empty.json", "");
  write("other.json", "[1]");
  write("data.csv", "a,b\n1,2\n");
  const Collection found = collect_in({"cut.json", "empty.json", "other.json", "data.csv"});
  ASSERT_EQ(found.records.size(), 4u);
  for (const run::Record& record : found.records) EXPECT_EQ(record.state, run::RecordState::damaged);
  EXPECT_EQ(found.records[0].faults[0],
            "The file is not valid JSON (byte 101); what `reproduce table1 --json` prints is read.");
  EXPECT_EQ(found.records[1].faults[0], "The file is empty; what `reproduce table1 --json` prints is read.");
  EXPECT_EQ(found.records[2].faults[0], "The file is not what `lipschitzlr reproduce table1 --json` prints.");
  EXPECT_EQ(found.records[3].faults[0],
            "The file is not valid JSON (byte 1); what `reproduce table1 --json` prints is read.");
}

TEST_F(CollectionTest, ADamagedTableInsideAFolderIsNotPassedOver) {
  write("runs/table2.json", "{\"table\": ");
  EXPECT_EQ(collect_in({"runs"}).records.size(), 1u);
}

}  // namespace
}  // namespace lipschitzlr::experiment

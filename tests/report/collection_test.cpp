#include "lipschitzlr/report/collection.hpp"

#include "report/scratch.hpp"

namespace lipschitzlr::report {
namespace {

constexpr const char* kTable = R"({"table": "table1", "seeds": 2, "max_iterations": 1000, "rows": [
  {"name": "iris", "verdict": "reproduced", "notes": ["A note."],
   "figures": {"coded": {"rate": {"least": 1.9, "mean": 1.92, "most": 1.94, "complete": true},
                         "iterations": {"least": 24, "mean": 35, "most": 48, "complete": false}}}}]})";

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
  ASSERT_EQ(found.runs.size(), 2u);
  EXPECT_EQ(found.runs[0].name(), "a");
  EXPECT_EQ(found.runs[1].name(), "b");
  ASSERT_EQ(found.tables.size(), 1u);
  EXPECT_TRUE(found.tables[0].faults.empty());
}

TEST_F(CollectionTest, KnowsTheSpeedsMeasuredAndDoesWithoutDamagedOnes) {
  write_network_record("runs/a");
  write("runs/speeds.json", R"([{"data": "mnist", "network": "mnist-cnn", "batch": 256, "step_seconds": 0.002,
                                 "forward_seconds": 0.001}])");
  ASSERT_EQ(collect_in({"runs"}).speeds.size(), 1u);
  EXPECT_EQ(collect_in({"runs"}).speeds[0].network, "mnist-cnn");
  write("runs/speeds.json", "[{");
  EXPECT_TRUE(collect_in({"runs"}).speeds.empty());
  EXPECT_EQ(collect_in({"runs"}).runs.size(), 1u);
}

TEST_F(CollectionTest, WhatIsNamedAndNotThereIsKeptAsMissing) {
  write("empty/notes.txt", "nothing");
  const Collection found = collect_in({"nowhere", "empty"});
  ASSERT_EQ(found.runs.size(), 2u);
  EXPECT_EQ(found.runs[0].faults[0], "There is no such file or folder.");
  EXPECT_EQ(found.runs[1].faults[0], "There is no record in this folder.");
  for (const RunRecord& run : found.runs) EXPECT_EQ(run.state, RecordState::missing);
}

TEST_F(CollectionTest, ReadsTheFiguresOfATable) {
  write("table1.json", kTable);
  const TableRecord record = collect_in({"table1.json"}).tables.at(0);
  EXPECT_EQ(record.table, "table1");
  const TableRow& row = record.rows.at(0);
  EXPECT_EQ(row.notes, std::vector<std::string>{"A note."});
  EXPECT_EQ(row.rates.at("coded").mean, 1.92);
  EXPECT_EQ(row.figures.at("coded").most, 48);
  EXPECT_FALSE(row.figures.at("coded").complete);
  EXPECT_EQ(record.command(row), "lipschitzlr reproduce table1 iris --seeds 2 --max-iterations 1000");
}

TEST_F(CollectionTest, FiguresOfAnotherTypeAreNone) {
  write("odd.json", R"({"table": "table1", "rows": [{"name": "boston", "notes": 3,
                        "figures": {"coded": {"rate": 3, "iterations": []}, "published": 7}}, {"figures": "x"}]})");
  const TableRecord record = collect_in({"odd.json"}).tables.at(0);
  ASSERT_EQ(record.rows.size(), 2u);
  EXPECT_TRUE(record.rows[0].rates.empty() && record.rows[0].figures.empty() && record.rows[0].notes.empty());
}

TEST_F(CollectionTest, ATableThatIsCutShortEmptyOrSomethingElseSaysSo) {
  write("cut.json", std::string(kTable).substr(0, 100));
  write("empty.json", "");
  write("other.json", "[1]");
  write("data.csv", "a,b\n1,2\n");
  const Collection found = collect_in({"cut.json", "empty.json", "other.json", "data.csv"});
  ASSERT_EQ(found.tables.size(), 4u);
  EXPECT_EQ(found.tables[0].faults[0],
            "The file is not valid JSON (byte 101); what `reproduce table1 --json` prints is read.");
  EXPECT_EQ(found.tables[1].faults[0], "The file is empty; what `reproduce table1 --json` prints is read.");
  EXPECT_EQ(found.tables[2].faults[0], "The file is not what `lipschitzlr reproduce table1 --json` prints.");
  EXPECT_EQ(found.tables[3].faults[0],
            "The file is not valid JSON (byte 1); what `reproduce table1 --json` prints is read.");
}

TEST_F(CollectionTest, ADamagedTableInsideAFolderIsNotPassedOver) {
  write("runs/table2.json", "{\"table\": ");
  EXPECT_EQ(collect_in({"runs"}).tables.size(), 1u);
}

}  // namespace
}  // namespace lipschitzlr::report

#include "lipschitzlr/report/run_record.hpp"

#include <cmath>

#include "report/scratch.hpp"

namespace lipschitzlr::report {
namespace {

class RunRecordTest : public Scratch {
 protected:
  RunRecord read(const std::string& name) { return read_run_record(folder + "/" + name); }
};

TEST_F(RunRecordTest, ReadsTheRecordOfANetwork) {
  write_network_record("run");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::complete);
  EXPECT_TRUE(record.faults.empty());
  EXPECT_EQ(record.kind, RecordKind::network);
  EXPECT_EQ(record.name(), "run");
  EXPECT_EQ(record.model, "resnet20-v1");
  EXPECT_EQ(record.decay, 0.001);
  EXPECT_EQ(record.seed, 7u);
  EXPECT_EQ(record.seconds, 26) << "of the epochs: a resumed run's summary knows its last part only";
  EXPECT_EQ(record.command, "lipschitzlr train --data cifar10 -o 'runs/a b'");
  EXPECT_EQ(record.curve("val_accuracy"), (std::vector<double>{0.4, 0.5}));
  EXPECT_TRUE(record.curve("not there").empty());
}

TEST_F(RunRecordTest, ANumberThatIsMissingOrNullLeavesAGapInItsColumn) {
  write_network_record("run");
  const RunRecord record = read("run");
  ASSERT_EQ(record.curve("later").size(), 2u);
  EXPECT_TRUE(std::isnan(record.curve("later")[0]));
  EXPECT_EQ(record.curve("later")[1], 5);
  EXPECT_TRUE(std::isnan(record.curve("K_z")[0]));
  EXPECT_EQ(record.curve("K_z")[1], 3);
  EXPECT_EQ(record.curve("loss")[0], 1.5);
  EXPECT_TRUE(std::isnan(record.curve("loss")[1]));
}

TEST_F(RunRecordTest, ReadsTheRecordOfAFit) {
  write("run/config.json", R"({"data": "boston", "model": "linear", "solver": "gd", "rate": 0.1, "seed": 3,
                               "command": ["fit", "boston"]})");
  write("run/metrics.jsonl", "{\"epoch\":0,\"loss\":300.5,\"rate\":0.1}\n{\"epoch\":1,\"loss\":299,\"rate\":0.1}\n");
  write("run/summary.json", R"({"stop": "all epochs done", "epochs": 3, "loss": 298, "seconds": 0.25})");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::complete);
  EXPECT_EQ(record.kind, RecordKind::linear);
  EXPECT_EQ(record.protocol, "0.1");
  EXPECT_EQ(record.stopped, "all epochs done");
  EXPECT_EQ(record.length(), 2u);
  EXPECT_EQ(record.epochs_done, 3) << "the summary knows better than the thinned curve";
  EXPECT_EQ(record.last_loss, 298);
}

TEST_F(RunRecordTest, AMissingFolderIsSaidToBeMissing) {
  const RunRecord record = read("nowhere");
  EXPECT_EQ(record.state, RecordState::missing);
  EXPECT_EQ(record.faults, std::vector<std::string>{"There is no such folder."});
}

TEST_F(RunRecordTest, WithoutASummaryItIsCutShortAndSaysWhere) {
  write_network_record("run");
  std::filesystem::remove(folder + "/run/summary.json");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::cut_short);
  EXPECT_EQ(record.faults,
            std::vector<std::string>{"summary.json is missing: the run goes on, or ended after epoch 2 of 2."});
}

TEST_F(RunRecordTest, ALineCutInTheMiddleKeepsWhatStandsBeforeIt) {
  write_network_record("run");
  write("run/metrics.jsonl", "{\"kind\":\"epoch\",\"epoch\":1,\"loss\":1.5}\n{\"kind\":\"epo");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::cut_short);
  EXPECT_EQ(record.faults[0], "metrics.jsonl ends in the middle of line 2; what stands before it is shown.");
  EXPECT_EQ(record.length(), 1u);
}

TEST_F(RunRecordTest, ADamagedLineIsLeftOutAndCounted) {
  write_network_record("run");
  write("run/metrics.jsonl",
        "{\"kind\":\"epoch\",\"epoch\":1}\n\x01\x02garbage\n[1]\n{\"kind\":\"epoch\",\"epoch\":4}\n");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::damaged);
  EXPECT_EQ(record.faults[0], "2 lines of metrics.jsonl can't be read, the first is line 2; the others are shown.");
  EXPECT_EQ(record.curve("epoch"), (std::vector<double>{1, 4}));
}

TEST_F(RunRecordTest, EmptyFilesAreNamed) {
  write("run/config.json", "");
  write("run/metrics.jsonl", "");
  write("run/summary.json", "  \n");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::damaged);
  EXPECT_EQ(record.faults, (std::vector<std::string>{"config.json is empty.", "metrics.jsonl has no measurement yet.",
                                                     "summary.json is empty."}));
}

TEST_F(RunRecordTest, DamagedJsonSaysFromWhichByteOn) {
  write_network_record("run");
  write("run/config.json", R"({"kind": )");
  write("run/summary.json", "[1, 2]");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::damaged);
  EXPECT_EQ(record.faults[0], "config.json is not valid JSON (byte 10).");
  EXPECT_EQ(record.faults[1], "summary.json is not a JSON object.");
  EXPECT_EQ(record.length(), 2u) << "what can be read is kept";
}

TEST_F(RunRecordTest, WrongTypesAreTheSameAsNothing) {
  write("run/config.json", R"({"options": {"data": ["x"], "epochs": "many", "seed": 1e300, "decay": null},
                               "command": {"a": 1}})");
  write("run/metrics.jsonl", "{\"epoch\":1,\"loss\":\"low\"}\n{\"epoch\":2,\"loss\":{}}\n");
  write("run/summary.json", R"({"seconds": [], "epochs": {}})");
  const RunRecord record = read("run");
  EXPECT_EQ(record.data, "");
  EXPECT_EQ(record.epochs_asked, 0);
  EXPECT_EQ(record.seed, 0u);
  EXPECT_EQ(record.command, "");
  EXPECT_EQ(record.length(), 2u);
  EXPECT_TRUE(record.curve("loss").empty());
}

TEST_F(RunRecordTest, FewerEpochsThanAskedForIsCutShort) {
  write_network_record("run");
  write("run/summary.json", R"({"stopped": "interrupted", "epochs": 1})");
  EXPECT_EQ(read("run").faults[0], "The run ended after 1 of 2 epochs: interrupted.");
}

TEST_F(RunRecordTest, ATrainingThatFailedSaysWhy) {
  write_network_record("run");
  std::filesystem::remove(folder + "/run/summary.json");
  write("run/failure.txt", "the loss is not a number in epoch 3\n");
  const RunRecord record = read("run");
  EXPECT_EQ(record.state, RecordState::cut_short);
  EXPECT_EQ(record.faults, std::vector<std::string>{"The training failed: the loss is not a number in epoch 3"});
}

TEST(ShellCommand, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_command({"fit", "a b", "it's", "", "$(rm)", "--l2=1e-3"}),
            "lipschitzlr fit 'a b' 'it'\\''s' '' '$(rm)' --l2=1e-3");
}

}  // namespace
}  // namespace lipschitzlr::report

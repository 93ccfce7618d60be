#include "lipschitzlr/run/record.hpp"

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "run/record_writer.hpp"
#include "run/scratch.hpp"

namespace lipschitzlr::run {
namespace {

class RecordTest : public Scratch {
 protected:
  Record read(const std::string& name) { return read_record(folder + "/" + name); }
};

TEST_F(RecordTest, ReadsTheRecordOfANetwork) {
  write_network_record("run");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::complete);
  EXPECT_TRUE(record.faults.empty());
  EXPECT_EQ(record.kind, RecordKind::network);
  EXPECT_EQ(record.name(), "run");
  EXPECT_EQ(record.data(), "cifar10");
  EXPECT_EQ(record.model(), "resnet20-v1");
  EXPECT_EQ(record.optimizer(), "adamo");
  EXPECT_EQ(record.number("decay"), 0.001);
  EXPECT_EQ(record.option("seed"), "7");
  EXPECT_EQ(record.option("no such option"), "");
  EXPECT_EQ(record.seconds, 26) << "of the epochs: a resumed run's summary knows its last part only";
  EXPECT_EQ(record.command, (std::vector<std::string>{"train", "--data", "cifar10", "-o", "runs/a b"}));
  EXPECT_EQ(record.epoch_seconds(), 13);
  EXPECT_EQ(record.column("val_accuracy"), (std::vector<double>{0.4, 0.5}));
  EXPECT_TRUE(record.column("not there").empty());
}

TEST_F(RecordTest, ANumberThatIsMissingOrNullLeavesAGapInItsColumn) {
  write_network_record("run");
  const Record record = read("run");
  ASSERT_EQ(record.column("later").size(), 2u);
  EXPECT_TRUE(std::isnan(record.column("later")[0]));
  EXPECT_EQ(record.column("later")[1], 5);
  EXPECT_TRUE(std::isnan(record.column("K_z")[0]));
  EXPECT_EQ(record.column("K_z")[1], 3);
  EXPECT_EQ(record.column("loss")[0], 1.5);
  EXPECT_TRUE(std::isnan(record.column("loss")[1]));
}

TEST_F(RecordTest, ReadsTheRecordOfAFit) {
  write("run/config.json", R"({"data": "boston", "model": "linear", "solver": "gd", "rate": 0.1, "seed": 3,
                               "command": ["fit", "boston"]})");
  write("run/metrics.jsonl", "{\"epoch\":0,\"loss\":300.5,\"rate\":0.1}\n{\"epoch\":1,\"loss\":299,\"rate\":0.1}\n");
  write("run/summary.json", R"({"stop": "all epochs done", "epochs": 3, "loss": 298, "seconds": 0.25})");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::complete);
  EXPECT_EQ(record.kind, RecordKind::linear);
  EXPECT_EQ(record.option("rate"), "0.1");
  EXPECT_EQ(record.optimizer(), "gd");
  EXPECT_EQ(record.length(), 2u);
  EXPECT_EQ(record.epochs_done, 3) << "the summary knows better than the thinned curve";
  EXPECT_EQ(record.last_loss, 298);
}

TEST_F(RecordTest, AFitHasItsCoefficientsAndTheFiguresOfItsTestRows) {
  write("fit/config.json", R"({"kind":"fit","options":{"solver":"newton"}})");
  write("fit/metrics.jsonl", "{\"epoch\":0,\"loss\":1}\n");
  const std::string before = R"({"epochs":1,"coefficients":[{"name":"a","class":"x","effect":-2}],"test":{)"
                             R"("roc":[{"label":"y","false_positive":[0,1],"true_positive":[0,1]}],)"
                             R"("calibration":[{"predicted":null,"observed":null},{"predicted":0.2,"observed":0.3}],)";
  write("fit/summary.json", before + R"("labels":["x","y"],"confusion":[[3,1],[0,2]],)"
                                     R"("error_histogram":{"first":-1,"width":0.5,"rows":[1,2]}}})");
  const Record record = read("fit");
  EXPECT_EQ(record.state, RecordState::complete);
  EXPECT_EQ(record.answers.effects.at(0).name, "a (x)");
  EXPECT_EQ(record.answers.roc.at(0).y, (std::vector<double>{0, 1}));
  EXPECT_EQ(record.answers.calibration.x, std::vector<double>{0.2});
  EXPECT_EQ(record.answers.confusion, (std::vector<std::vector<double>>{{3, 1}, {0, 2}}));
  EXPECT_EQ(record.answers.errors, (std::vector<double>{1, 2}));
  for (const char* damage : {R"("labels":["x","y"],"confusion":[[3,1],[0]]}})", R"("labels":["x"],"confusion":7}})",
                             R"("error_histogram":{"first":"low","rows":[1]}}})", R"("error_histogram":[]}})"}) {
    write("fit/summary.json", before + damage);
    const Record damaged = read("fit");
    EXPECT_EQ(damaged.state, RecordState::damaged) << damage;
    EXPECT_TRUE(damaged.answers.confusion.empty() && damaged.answers.errors.empty()) << damage;
  }
}

TEST_F(RecordTest, AMissingFolderIsSaidToBeMissing) {
  const Record record = read("nowhere");
  EXPECT_EQ(record.state, RecordState::missing);
  EXPECT_EQ(record.faults, std::vector<std::string>{"There is no such folder."});
}

TEST_F(RecordTest, WithoutASummaryItIsCutShortAndSaysWhere) {
  write_network_record("run");
  std::filesystem::remove(folder + "/run/summary.json");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::cut_short);
  EXPECT_EQ(record.faults,
            std::vector<std::string>{"summary.json is missing: the run is going on, or ended after epoch 2 of 2."});
}

TEST_F(RecordTest, ALineCutInTheMiddleKeepsWhatStandsBeforeIt) {
  write_network_record("run");
  write("run/metrics.jsonl", "{\"kind\":\"epoch\",\"epoch\":1,\"loss\":1.5}\n{\"kind\":\"epo");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::cut_short);
  EXPECT_EQ(record.faults[0], "metrics.jsonl ends in the middle of line 2; what stands before it is shown.");
  EXPECT_EQ(record.length(), 1u);
}

TEST_F(RecordTest, ADamagedLineIsLeftOutAndCounted) {
  write_network_record("run");
  write("run/metrics.jsonl",
        "{\"kind\":\"epoch\",\"epoch\":1}\n\x01\x02garbage\n[1]\n{\"kind\":\"epoch\",\"epoch\":4}\n");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::damaged);
  EXPECT_EQ(record.faults[0], "2 lines of metrics.jsonl can't be read, the first is line 2; the others are shown.");
  EXPECT_EQ(record.column("epoch"), (std::vector<double>{1, 4}));
}

TEST_F(RecordTest, EmptyFilesAreNamed) {
  write("run/config.json", "");
  write("run/metrics.jsonl", "");
  write("run/summary.json", "  \n");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::damaged);
  EXPECT_EQ(record.faults, (std::vector<std::string>{"config.json is empty.", "metrics.jsonl has no measurement yet.",
                                                     "summary.json is empty."}));
}

TEST_F(RecordTest, DamagedJsonSaysFromWhichByteOn) {
  write_network_record("run");
  write("run/config.json", R"({"kind": )");
  write("run/summary.json", "[1, 2]");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::damaged);
  EXPECT_EQ(record.faults[0], "config.json is not valid JSON (byte 10).");
  EXPECT_EQ(record.faults[1], "summary.json is not a JSON object.");
  EXPECT_EQ(record.length(), 2u) << "what can be read is kept";
}

TEST_F(RecordTest, WrongTypesAreTheSameAsNothing) {
  write("run/config.json", R"({"options": {"data": ["x"], "epochs": "many", "seed": 1e300, "decay": null},
                               "command": {"a": 1}})");
  write("run/metrics.jsonl", "{\"epoch\":1,\"loss\":\"low\"}\n{\"epoch\":2,\"loss\":{}}\n");
  write("run/summary.json", R"({"seconds": [], "epochs": {}})");
  const Record record = read("run");
  EXPECT_EQ(record.data(), "");
  EXPECT_EQ(record.number("epochs"), 0);
  EXPECT_TRUE(record.command.empty());
  EXPECT_EQ(record.length(), 2u);
  EXPECT_TRUE(record.column("loss").empty());
}

TEST_F(RecordTest, FewerEpochsThanAskedForIsCutShort) {
  write_network_record("run");
  write("run/summary.json", R"({"stopped": "interrupted", "epochs": 1})");
  EXPECT_EQ(read("run").faults[0], "The run ended after 1 of 2 epochs: interrupted.");
}

TEST_F(RecordTest, ATrainingThatFailedSaysWhy) {
  write_network_record("run");
  std::filesystem::remove(folder + "/run/summary.json");
  write("run/failure.txt", "the loss is not a number in epoch 3\n");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::cut_short);
  EXPECT_EQ(record.faults, std::vector<std::string>{"The training failed: the loss is not a number in epoch 3"});
}

TEST_F(RecordTest, AnEpochThatIsNoNumberAndAnotherKindOfRunAreDamage) {
  write_network_record("run");
  write("run/metrics.jsonl", "{\"kind\":\"epoch\",\"epoch\":\"first\"}\n{\"kind\":\"epoch\",\"epoch\":1}\n");
  EXPECT_EQ(read("run").faults[0], "1 line of metrics.jsonl can't be read, the first is line 1; the others are shown.");
  EXPECT_EQ(read("run").length(), 1u);
  write("run/config.json", R"({"kind": "x", "options": {}})");
  EXPECT_EQ(read("run").faults[0], "config.json describes no training that this program knows.");
  EXPECT_EQ(read("run").kind, RecordKind::unknown);
  std::filesystem::remove(folder + "/run/config.json");
  EXPECT_EQ(read("run").faults[0], "config.json is missing: what was asked is unknown.");
  EXPECT_EQ(read("run").state, RecordState::damaged);
}

TEST_F(RecordTest, OfANewerVersionSaysSoAndIsReadAsFarAsItIsKnown) {
  write("run/config.json", R"({"version": 99, "kind": "fit", "options": {"data": "boston", "solver": "gd"}})");
  write("run/metrics.jsonl", "{\"epoch\":0,\"loss\":3}\n");
  write("run/summary.json", "{}");
  const Record record = read("run");
  EXPECT_EQ(record.state, RecordState::complete);
  EXPECT_EQ(record.data(), "boston");
  EXPECT_EQ(record.faults,
            std::vector<std::string>{"A newer version of this program wrote the record: what it adds is not shown."});
}

// A record is moved and passed on: of an absolute path only the last part is its own.
TEST_F(RecordTest, NamesItsFolderWithoutTheMachine) {
  const std::string place = folder + "/made";
  RecordWriter writer(place, {{"kind", "fit"},
                              {"command", {"fit", "a.csv", "--record", place, "--output=" + place, "x" + place}},
                              {"options", {{"data", "a.csv"}}}});
  writer.write({{"epoch", 1}, {"loss", 0.5}});
  writer.finish({{"folder", place}});
  const Record record = read("made");
  EXPECT_EQ(record.state, RecordState::complete) << record.faults.size();
  EXPECT_EQ(record.command,
            (std::vector<std::string>{"fit", "a.csv", "--record", "made", "--output=made", "x" + place}));
  EXPECT_EQ(nlohmann::json::parse(read_file(place + "/summary.json"))["folder"], "made");
  EXPECT_THROW(RecordWriter(place, {{"command", nlohmann::json::array()}}), Error);
}

}  // namespace
}  // namespace lipschitzlr::run

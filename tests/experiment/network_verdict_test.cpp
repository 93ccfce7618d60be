#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "lipschitzlr/experiment/output.hpp"
#include "lipschitzlr/experiment/verdict.hpp"

namespace lipschitzlr::experiment {
namespace {

using run::Record;
using Records = std::vector<Record>;

const Recipe& network_recipe(const std::string& name) { return *find_recipe("table3/" + name); }

// The verdict on the row that these records give; hours: what it would take here.
Verdict judge(const Recipe& recipe, const Records& records, std::optional<double> hours = {}) {
  Row judged = network_row(recipe, records);
  judged.hours = hours;
  return judge(judged);
}

// What `train` would have left of this row, with the authors' own figures for a number of epochs; changes go on top.
Record record_of(const Recipe& recipe, std::size_t epochs) {
  Record record;
  const NetworkTraining& training = *recipe.network;
  record.kind = run::RecordKind::network;
  record.options = {{"data", training.data},
                    {"network", training.network},
                    {"optimizer", training.optimizer},
                    {"policy", training.policy},
                    {"protocol", "coded"},
                    {"decay", std::to_string(training.decay)},
                    {"batch", std::to_string(training.batch)},
                    {"first_rate", training.first_rate ? std::to_string(*training.first_rate) : "none"},
                    {"limit", "0"},
                    {"seed", "1"}};
  const Record& curve = *authors_curve(training.curve);
  for (std::size_t i = 0; i < epochs; ++i) {
    record.columns["epoch"].push_back(static_cast<double>(i + 1));
    record.columns["val_accuracy"].push_back(curve.column("val_accuracy")[i]);
    record.columns["rate"].push_back(curve.column("rate").empty() ? 0.01 : curve.column("rate")[i]);
    record.columns["loss"].push_back(curve.column("loss")[i] - 0.1);
    record.columns["penalty"].push_back(0.1);
  }
  return record;
}

bool says(const Verdict& verdict, const std::string& words) {
  for (const std::string& reason : verdict.reasons) {
    if (reason.find(words) != std::string::npos) return true;
  }
  return false;
}

const char* const kResNetSgd = "cifar10-resnet20-sgd-adaptive-1e-3";

TEST(NetworkVerdict, ARowWithoutARecordIsNotRunAndSaysHowLongItTakes) {
  const Verdict verdict = judge(network_recipe(kResNetSgd), {}, 36);
  EXPECT_EQ(verdict.word, "not run");
  EXPECT_TRUE(says(verdict, "300 epochs of the paper take about 36.0 h here")) << verdict.reasons[0];
}

TEST(NetworkVerdict, TheAuthorsOwnFiguresAgree) {
  EXPECT_EQ(judge(network_recipe(kResNetSgd), {record_of(network_recipe(kResNetSgd), 8)}).word, "agrees so far");
  EXPECT_EQ(judge(network_recipe(kResNetSgd), {record_of(network_recipe(kResNetSgd), 300)}).word, "reproduced");
}

TEST(NetworkVerdict, AnAccuracyFurtherAwayThanTheCurveJumpsDiffers) {
  const double tolerance = accuracy_tolerance(*authors_curve(network_recipe(kResNetSgd).network->curve), 8);
  for (const double shift : {-1.0, 1.0}) {
    Record near = record_of(network_recipe(kResNetSgd), 8), far = near;
    for (double& accuracy : near.columns["val_accuracy"]) accuracy += shift * 0.0099 * tolerance;
    for (double& accuracy : far.columns["val_accuracy"]) accuracy += shift * 0.0101 * tolerance;
    EXPECT_EQ(judge(network_recipe(kResNetSgd), {near}).word, "agrees so far");
    EXPECT_EQ(judge(network_recipe(kResNetSgd), {far}).word, "differs so far");
    EXPECT_EQ(judge(network_recipe(kResNetSgd), {near, far}).word, "agrees so far");  // within ours over the seeds
  }
}

TEST(NetworkVerdict, OnMnistAPointIsWorthADifference) {
  const Recipe& recipe = network_recipe("mnist-cnn-sgd-adaptive");
  Record record = record_of(recipe, 20);
  EXPECT_EQ(judge(recipe, {record}).word, "reproduced");
  for (double& accuracy : record.columns["val_accuracy"]) accuracy -= 0.008;  // 98.7 % in place of 99.5
  EXPECT_EQ(judge(recipe, {record}).word, "differs");
}

TEST(NetworkVerdict, TrainingLossesAreCompared) {
  const Recipe& recipe = network_recipe(kResNetSgd);
  Record record = record_of(recipe, 8);
  EXPECT_TRUE(says(judge(recipe, {record}), "Agrees: our training loss is 1.00 times the authors'"));
  Record lower = record;
  for (double& loss : lower.columns["loss"]) loss = 0.87 * (loss + 0.1) - 0.1;
  EXPECT_EQ(judge(recipe, {lower}).word, "differs so far");
  EXPECT_TRUE(says(judge(recipe, {lower}), "Differs: our training loss is 0.87 times the authors'"));
  lower.options["seed"] = "2";
  EXPECT_EQ(judge(recipe, {record, lower}).word, "agrees so far");  // within ours over the seeds
}

TEST(NetworkVerdict, SeedsThatFailedCount) {
  const Recipe& recipe = network_recipe(kResNetSgd);
  Record good = record_of(recipe, 8), other = good, failed = record_of(recipe, 0);
  other.options["seed"] = "2";
  failed.options["seed"] = "3";
  failed.failure = "the loss is not finite";
  const Verdict verdict = judge(recipe, {good, other, failed});
  EXPECT_EQ(verdict.text(), "unstable: 1 of 3");
  EXPECT_TRUE(says(verdict, "Seed 3 failed: the loss is not finite."));
  EXPECT_TRUE(says(verdict, "Agrees: the authors' curve"));
  Record again = good;
  again.options["seed"] = "3";
  EXPECT_EQ(judge(recipe, {good, other, failed, again}).text(), "agrees so far");
}

TEST(NetworkVerdict, RatesThatAreAQuarterOffDiffer) {
  Record record = record_of(network_recipe(kResNetSgd), 8);
  for (double& rate : record.columns["rate"]) rate *= 1.3;
  const Verdict verdict = judge(network_recipe(kResNetSgd), {record});
  EXPECT_EQ(verdict.word, "differs so far");
  EXPECT_TRUE(says(verdict, "1.30 times the authors'"));
}

// The first rate comes from an untrained network, and one odd epoch must not decide.
TEST(NetworkVerdict, TheMedianRateCountsFromTheSecondEpochOn) {
  Record record = record_of(network_recipe(kResNetSgd), 8);
  record.columns["rate"][0] = 50;
  record.columns["rate"][3] = 50;
  EXPECT_DOUBLE_EQ(*rate_ratio(record, *authors_curve(network_recipe(kResNetSgd).network->curve)), 1);
  for (auto& [name, column] : record.columns) column.resize(1);
  EXPECT_FALSE(rate_ratio(record, *authors_curve(network_recipe(kResNetSgd).network->curve)));
}

TEST(NetworkVerdict, TheToleranceIsTheMedianJumpOfTheLastEightEpochs) {
  Record curve;
  curve.columns["val_accuracy"] = {0.1,  0.2,  0.1,  0.2,  0.1,  0.2,  0.1,  0.2,
                                   0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25};
  EXPECT_NEAR(accuracy_tolerance(curve, 1), 10, 1e-9);  // of the first eight: there are no fewer
  EXPECT_NEAR(accuracy_tolerance(curve, 8), 10, 1e-9);
  EXPECT_NEAR(accuracy_tolerance(curve, 12), 5, 1e-9);  // jumps of 10, 10, 10, 5, 0, 0, 0 among epochs 5 to 12
  // Two standard errors of the difference of two shares of 10,000 images: 2 sqrt(2 * 0.25 * 0.75 / 10000).
  EXPECT_NEAR(accuracy_tolerance(curve, 16), 1.2247448713915890, 1e-12);
  EXPECT_NEAR(accuracy_tolerance(curve, 400), 1.2247448713915890, 1e-12);
}

TEST(NetworkVerdict, RowsAreJoinedByWhatWasTrained) {
  const Record record = record_of(network_recipe(kResNetSgd), 8);
  int rows = 0;
  for (const Recipe& recipe : recipes()) rows += recipe.network && is_of(recipe, "coded", record);
  EXPECT_EQ(rows, 1);
  EXPECT_FALSE(is_of(network_recipe(kResNetSgd), "published", record));
  for (const auto& [option, value] : std::map<std::string, std::string>{{"data", "cifar100"},
                                                                        {"optimizer", "adamo"},
                                                                        {"policy", "fixed"},
                                                                        {"decay", "0"},
                                                                        {"limit", "640"},
                                                                        {"schedule", "cosine"}}) {
    Record other = record;
    other.options[option] = value;
    EXPECT_FALSE(is_of(network_recipe(kResNetSgd), "coded", other)) << option;
  }
}

TEST(NetworkVerdict, WhatWasChosenOtherwiseIsSaid) {
  Record record = record_of(network_recipe(kResNetSgd), 8);
  EXPECT_TRUE(departures(network_recipe(kResNetSgd), "coded", record).empty());
  record.options["first_rate"] = "0.001";
  record.options["batch"] = "64";
  record.options["augment"] = "none";
  record.options["update"] = "epoch";
  record.options["schedule"] = "constant";
  EXPECT_EQ(departures(network_recipe(kResNetSgd), "coded", record),
            (std::vector<std::string>{"batches of 64 in place of 128", "first rate 0.001 in place of none",
                                      "augment none in place of auto"}));
  const Verdict verdict = judge(network_recipe(kResNetSgd), {record});
  EXPECT_TRUE(says(verdict, "Trained with first rate 0.001 in place of none."));
  EXPECT_EQ(verdict.word, "other options");
  EXPECT_EQ(judge(network_recipe(kResNetSgd), {record, record_of(network_recipe(kResNetSgd), 8)}).word, "agrees so far")
      << "the row itself comes first";
}

TEST(NetworkVerdict, OptionsThatNoRowHasAreReadFromTheCommand) {
  Record record = record_of(network_recipe(kResNetSgd), 8);
  record.command = {"train", "--data",  "cifar10", "--decay", "1e-3",           "--epochs",        "8",         "-o",
                    "x",     "--beta2", "0.5",     "--quiet", "--measure=pass", "--hold-averages", "--weights", "a.h5"};
  record.options["l2"] = "0.5";
  EXPECT_EQ(departures(network_recipe(kResNetSgd), "coded", record),
            (std::vector<std::string>{"l2 0.5 in place of 0.001", "--beta2 0.5", "--measure=pass", "--hold-averages",
                                      "--weights a.h5"}));
}

TEST(NetworkVerdict, TheLossOfAnOlderRecordIsSaidAndAnotherOneIsADeparture) {
  const Recipe& recipe = network_recipe(kResNetSgd);
  Record record = record_of(recipe, 8);
  EXPECT_TRUE(says(judge(recipe, {record}), "Trained by a version without Keras's clipped loss"));
  EXPECT_EQ(judge(recipe, {record}).word, "agrees so far");
  record.options["loss"] = "clipped";
  record.options["dense_start"] = "he-normal";
  EXPECT_FALSE(says(judge(recipe, {record}), "clipped loss"));
  record.options["loss"] = "cross-entropy";
  EXPECT_EQ(departures(recipe, "coded", record), std::vector<std::string>{"loss cross-entropy in place of clipped"});
}

TEST(NetworkVerdict, ADamagedRecordSaysSo) {
  Record record = record_of(network_recipe(kResNetSgd), 8);
  record.state = run::RecordState::damaged;
  record.faults = {"1 line of metrics.jsonl can't be read, the first is line 3; the others are shown."};
  EXPECT_TRUE(says(judge(network_recipe(kResNetSgd), {record}),
                   "The record is damaged: 1 line of metrics.jsonl can't be read"));
}

TEST(NetworkVerdict, AnArtefactStaysOneHoweverWellItIsRepeated) {
  const Recipe& recipe = network_recipe("cifar10-resnet20-sgd-baseline-1e-3");
  const Verdict verdict = judge(recipe, {record_of(recipe, 8)});
  EXPECT_EQ(verdict.text(), "artefact: agrees so far");
  EXPECT_TRUE(says(verdict, "Artefact: The baseline is slowed down"));
  EXPECT_TRUE(says(verdict, "Agrees: the authors' curve"));
  EXPECT_EQ(judge(recipe, {}).word, "not run");
  EXPECT_TRUE(says(judge(recipe, {}), "Artefact: The baseline is slowed down"));
}

TEST(NetworkVerdict, APeakIsCalledOneWhenTheEpochsAreDone) {
  const Recipe& recipe = network_recipe("mnist-cnn-auto-adam-adaptive");
  const Verdict verdict = judge(recipe, {record_of(recipe, 20)});
  EXPECT_EQ(verdict.word, "reproduced");
  EXPECT_TRUE(says(verdict, "the last epoch of the authors' curve has 87.95 %"));
  Record better = record_of(recipe, 20);
  better.columns["val_accuracy"].back() = 0.9919;
  EXPECT_EQ(judge(recipe, {better}).word, "differs");
  EXPECT_TRUE(says(judge(recipe, {better}), "Differs: in the last epoch the authors have 87.95 %, we have 99.19 %."));
}

TEST(NetworkVerdict, ATrainingThatFailedSaysWhy) {
  Record record = record_of(network_recipe(kResNetSgd), 0);
  EXPECT_EQ(judge(network_recipe(kResNetSgd), {record}).word, "not run");
  record.failure = "the loss is not finite";
  EXPECT_EQ(judge(network_recipe(kResNetSgd), {record}).word, "failed");
  EXPECT_TRUE(says(judge(network_recipe(kResNetSgd), {record}), "the loss is not finite"));
}

TEST(NetworkVerdict, SeedsAreComparedWhereAllOfThemGot) {
  Record first = record_of(network_recipe(kResNetSgd), 8), second = first,
         behind = record_of(network_recipe(kResNetSgd), 3);
  for (double& accuracy : second.columns["val_accuracy"]) accuracy -= 0.02;
  second.options["seed"] = "2";
  const Records records = {behind, first, second, first};  // a copy is no other seed
  const Row joined = network_row(network_recipe(kResNetSgd), records);
  ASSERT_EQ(runs_behind(joined, "coded").size(), 2u);
  const Spread best = accuracy_of(joined, "coded"), last = last_accuracy_of(joined, "coded");
  EXPECT_NEAR(best.most - best.least, 2, 1e-9);
  EXPECT_NEAR(best.mean, best_accuracy(first).percent() - 1, 1e-9);
  EXPECT_NEAR(last.mean, 100 * first.column("val_accuracy").back() - 1, 1e-9);
  EXPECT_TRUE(
      says(judge(network_recipe(kResNetSgd), records), "Mean of 2 trainings: best 70.48 %, from 69.48 % to 71.48 %."));
  const Records begun = {record_of(network_recipe(kResNetSgd), 0)};
  EXPECT_TRUE(runs_behind(network_row(network_recipe(kResNetSgd), begun), "coded").empty());
  NetworkTask task;
  task.recipe = network_recipe(kResNetSgd);
  task.protocol = "coded";
  const std::string text = to_text(std::vector{joined}, std::vector{task});
  EXPECT_NE(text.find(" 8/300  70.48 70.48  71.48"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  least                                     69.48 69.48\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  most                                      71.48 71.48\n"), std::string::npos) << text;
}

TEST(NetworkVerdict, AComparisonStandsBesideItsRowsAtTheSameEpoch) {
  const Recipe& recipe = *find_recipe("comparison/cifar10-resnet20-amsgrad");
  Record record = record_of(network_recipe(kResNetSgd), 3);
  record.options["optimizer"] = "amsgrad";
  record.options["policy"] = "baseline";
  record.options["decay"] = "0";
  const Verdict verdict = judge(recipe, {record_of(network_recipe(kResNetSgd), 8), record});
  EXPECT_EQ(verdict.word, "another network");
  EXPECT_TRUE(says(verdict, "table3/cifar10-resnet20-sgd-adaptive-1e-3: best 52.88 % in epoch 3 of 3"));
}

}  // namespace
}  // namespace lipschitzlr::experiment

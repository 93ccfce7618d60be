#include "lipschitzlr/experiment/network_verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "lipschitzlr/experiment/network_output.hpp"

namespace lipschitzlr::experiment {
namespace {

using run::NetworkRecord;

const NetworkRecipe& row(const std::string& name) { return *find_network_recipe("table3/" + name); }

// What `train` would have left of this row, with the authors' own figures for a number of epochs; changes go on top.
NetworkRecord record_of(const NetworkRecipe& recipe, std::size_t epochs) {
  NetworkRecord record;
  const NetworkTraining& training = recipe.training;
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
  const Curve& curve = *authors_curve(recipe.curve);
  for (std::size_t i = 0; i < epochs; ++i) {
    run::EpochLine line;
    line.epoch = static_cast<std::int64_t>(i) + 1;
    line.val_accuracy = curve.val_accuracy[i];
    line.rate = curve.rate.empty() ? 0.01 : curve.rate[i];
    record.epochs.push_back(line);
  }
  return record;
}

bool says(const Verdict& verdict, const std::string& words) {
  for (const std::string& reason : verdict.reasons) {
    if (reason.find(words) != std::string::npos) return true;
  }
  return false;
}

const char* const kSgd = "cifar10-resnet20-sgd-adaptive-1e-3";

TEST(NetworkVerdict, ARowWithoutARecordIsNotRunAndSaysHowLongItTakes) {
  const Verdict verdict = judge(row(kSgd), {}, 36);
  EXPECT_EQ(verdict.word, "not run");
  EXPECT_TRUE(says(verdict, "300 epochs of the paper take about 36.0 h here")) << verdict.reasons[0];
}

TEST(NetworkVerdict, TheAuthorsOwnFiguresAgree) {
  EXPECT_EQ(judge(row(kSgd), {record_of(row(kSgd), 8)}).word, "agrees so far");
  EXPECT_EQ(judge(row(kSgd), {record_of(row(kSgd), 300)}).word, "reproduced");
}

TEST(NetworkVerdict, AnAccuracyFurtherAwayThanTheCurveJumpsDiffers) {
  const double tolerance = accuracy_tolerance(*authors_curve(row(kSgd).curve), 8);
  for (const double shift : {-1.0, 1.0}) {
    NetworkRecord near = record_of(row(kSgd), 8), far = near;
    for (run::EpochLine& line : near.epochs) line.val_accuracy += shift * 0.0099 * tolerance;
    for (run::EpochLine& line : far.epochs) line.val_accuracy += shift * 0.0101 * tolerance;
    EXPECT_EQ(judge(row(kSgd), {near}).word, "agrees so far");
    EXPECT_EQ(judge(row(kSgd), {far}).word, "differs so far");
    EXPECT_EQ(judge(row(kSgd), {near, far}).word, "agrees so far");  // within ours over the seeds
  }
}

TEST(NetworkVerdict, RatesThatAreAQuarterOffDiffer) {
  NetworkRecord record = record_of(row(kSgd), 8);
  for (run::EpochLine& line : record.epochs) line.rate *= 1.3;
  const Verdict verdict = judge(row(kSgd), {record});
  EXPECT_EQ(verdict.word, "differs so far");
  EXPECT_TRUE(says(verdict, "1.30 times the authors'"));
}

// The first rate comes from an untrained network, and one odd epoch must not decide.
TEST(NetworkVerdict, TheMedianRateCountsFromTheSecondEpochOn) {
  NetworkRecord record = record_of(row(kSgd), 8);
  record.epochs[0].rate = 50;
  record.epochs[3].rate = 50;
  EXPECT_DOUBLE_EQ(*rate_ratio(record, *authors_curve(row(kSgd).curve)), 1);
  record.epochs.resize(1);
  EXPECT_FALSE(rate_ratio(record, *authors_curve(row(kSgd).curve)));
}

TEST(NetworkVerdict, TheToleranceIsTheMedianJumpOfTheLastEightEpochs) {
  Curve curve;
  curve.val_accuracy = {0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25};
  EXPECT_NEAR(accuracy_tolerance(curve, 1), 10, 1e-9);  // of the first eight: there are no fewer
  EXPECT_NEAR(accuracy_tolerance(curve, 8), 10, 1e-9);
  EXPECT_NEAR(accuracy_tolerance(curve, 12), 5, 1e-9);  // jumps of 10, 10, 10, 5, 0, 0, 0 among epochs 5 to 12
  EXPECT_EQ(accuracy_tolerance(curve, 16), kLeastJump);
  EXPECT_EQ(accuracy_tolerance(curve, 400), kLeastJump);
}

TEST(NetworkVerdict, RowsAreJoinedByWhatWasTrained) {
  const NetworkRecord record = record_of(row(kSgd), 8);
  int rows = 0;
  for (const NetworkRecipe& recipe : network_recipes()) rows += is_of(recipe, "coded", record);
  EXPECT_EQ(rows, 1);
  EXPECT_FALSE(is_of(row(kSgd), "published", record));
  for (const auto& [option, value] : std::map<std::string, std::string>{{"data", "cifar100"},
                                                                        {"optimizer", "adamo"},
                                                                        {"policy", "fixed"},
                                                                        {"decay", "0"},
                                                                        {"limit", "640"},
                                                                        {"schedule", "cosine"}}) {
    NetworkRecord other = record;
    other.options[option] = value;
    EXPECT_FALSE(is_of(row(kSgd), "coded", other)) << option;
  }
}

TEST(NetworkVerdict, WhatWasChosenOtherwiseIsSaid) {
  NetworkRecord record = record_of(row(kSgd), 8);
  EXPECT_TRUE(departures(row(kSgd), "coded", record).empty());
  record.options["first_rate"] = "0.001";
  record.options["batch"] = "64";
  record.options["augment"] = "none";
  record.options["update"] = "epoch";
  record.options["schedule"] = "constant";
  EXPECT_EQ(departures(row(kSgd), "coded", record),
            (std::vector<std::string>{"batches of 64 in place of 128", "first rate 0.001 in place of none",
                                      "augment none in place of auto"}));
  const Verdict verdict = judge(row(kSgd), {record});
  EXPECT_TRUE(says(verdict, "Trained with first rate 0.001 in place of none."));
  EXPECT_EQ(verdict.word, "other options");
  EXPECT_EQ(judge(row(kSgd), {record, record_of(row(kSgd), 8)}).word, "agrees so far") << "the row itself comes first";
}

TEST(NetworkVerdict, OptionsThatNoRowHasAreReadFromTheCommand) {
  NetworkRecord record = record_of(row(kSgd), 8);
  record.command = {"train", "--data",  "cifar10", "--decay", "1e-3",           "--epochs",        "8",         "-o",
                    "x",     "--beta2", "0.5",     "--quiet", "--measure=pass", "--hold-averages", "--weights", "a.h5"};
  record.options["l2"] = "0.5";
  EXPECT_EQ(departures(row(kSgd), "coded", record),
            (std::vector<std::string>{"l2 0.5 in place of 0.001", "--beta2 0.5", "--measure=pass", "--hold-averages",
                                      "--weights a.h5"}));
}

TEST(NetworkVerdict, ADamagedRecordSaysSo) {
  NetworkRecord record = record_of(row(kSgd), 8);
  record.problem = "metrics.jsonl: line 3 is damaged";
  EXPECT_TRUE(says(judge(row(kSgd), {record}), "The record is damaged: metrics.jsonl: line 3 is damaged."));
}

TEST(NetworkVerdict, AnArtefactStaysOneHoweverWellItIsRepeated) {
  const NetworkRecipe& recipe = row("cifar10-resnet20-sgd-baseline-1e-3");
  const Verdict verdict = judge(recipe, {record_of(recipe, 8)});
  EXPECT_EQ(verdict.word, "artefact");
  EXPECT_TRUE(says(verdict, "Artefact: The baseline is slowed down"));
  EXPECT_TRUE(says(verdict, "Agrees: the authors' curve"));
  EXPECT_EQ(judge(recipe, {}).word, "not run");
  EXPECT_TRUE(says(judge(recipe, {}), "Artefact: The baseline is slowed down"));
}

TEST(NetworkVerdict, APeakIsCalledOneWhenTheEpochsAreDone) {
  const NetworkRecipe& recipe = row("mnist-cnn-auto-adam-adaptive");
  const Verdict verdict = judge(recipe, {record_of(recipe, 20)});
  EXPECT_EQ(verdict.word, "reproduced");
  EXPECT_TRUE(says(verdict, "the last epoch of the authors' curve has 87.95 %"));
}

TEST(NetworkVerdict, ATrainingThatFailedSaysWhy) {
  NetworkRecord record = record_of(row(kSgd), 0);
  EXPECT_EQ(judge(row(kSgd), {record}).word, "not run");
  record.failure = "the loss is not finite";
  EXPECT_EQ(judge(row(kSgd), {record}).word, "failed");
  EXPECT_TRUE(says(judge(row(kSgd), {record}), "the loss is not finite"));
}

TEST(NetworkVerdict, SeedsAreComparedWhereAllOfThemGot) {
  NetworkRecord first = record_of(row(kSgd), 8), second = first, behind = record_of(row(kSgd), 3);
  for (run::EpochLine& line : second.epochs) line.val_accuracy -= 0.02;
  second.options["seed"] = "2";
  const std::vector<NetworkRecord> records = {behind, first, second, first};  // a copy is no other seed
  const auto furthest = furthest_of(row(kSgd), "coded", records);
  ASSERT_EQ(furthest.size(), 2u);
  const Spread best = best_accuracies(furthest), last = last_accuracies(furthest);
  EXPECT_NEAR(best.most - best.least, 2, 1e-9);
  EXPECT_NEAR(best.mean, best_accuracy(first).percent - 1, 1e-9);
  EXPECT_NEAR(last.mean, 100 * first.epochs.back().val_accuracy - 1, 1e-9);
  EXPECT_TRUE(says(judge(row(kSgd), records), "Mean of 2 trainings: best 70.48 %, from 69.48 % to 71.48 %."));
  EXPECT_TRUE(furthest_of(row(kSgd), "coded", {record_of(row(kSgd), 0)}).empty());
  NetworkTask task;
  task.recipe = row(kSgd);
  task.protocol = "coded";
  const std::string text = to_text(std::vector{task}, records);
  EXPECT_NE(text.find(" 8/300  70.48 70.48  71.48"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  least                                     69.48 69.48\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  most                                      71.48 71.48\n"), std::string::npos) << text;
}

TEST(NetworkVerdict, AComparisonStandsBesideItsRowsAtTheSameEpoch) {
  const NetworkRecipe& recipe = *find_network_recipe("comparison/cifar10-resnet20-amsgrad");
  NetworkRecord record = record_of(row(kSgd), 3);
  record.options["optimizer"] = "amsgrad";
  record.options["policy"] = "baseline";
  record.options["decay"] = "0";
  const Verdict verdict = judge(recipe, {record_of(row(kSgd), 8), record});
  EXPECT_EQ(verdict.word, "another network");
  EXPECT_TRUE(says(verdict, "table3/cifar10-resnet20-sgd-adaptive-1e-3: best 52.88 % in epoch 3 of 3"));
}

}  // namespace
}  // namespace lipschitzlr::experiment

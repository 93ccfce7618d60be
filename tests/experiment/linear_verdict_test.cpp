#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/experiment/verdict.hpp"

namespace lipschitzlr::experiment {
namespace {

// A row of Table 1 that met the paper's figures exactly: rate 9, 1000 iterations with 0.1 and 50 with 1/L.
Row met() {
  Row result;
  result.recipe.table = "table1";
  result.recipe.name = "made-up";
  LinearTraining training;
  training.threshold = 0.5;
  training.paper = {9, 1000, 50, 100};
  result.recipe.linear = training;
  result.rows = 100;
  result.zero_loss = 2;
  result.seeds_done = 1;
  result.runs = {{"baseline", 1, 0.1, 1000, true}, {"coded", 1, 9, 50, true}};
  return result;
}

Row met_accuracy() {
  Row result = met();
  result.recipe.linear->threshold.reset();
  result.recipe.linear->epochs = 10;
  result.recipe.linear->paper = {9, 60, 90, 100};
  result.epochs = 10;
  result.majority = 0.5;
  result.runs[0].accuracy = 0.595;
  result.runs[1].accuracy = 0.905;
  return result;
}

TEST(Verdict, ARowThatMeetsEveryFigureIsReproduced) {
  EXPECT_EQ(judge(met()).word, "reproduced");
  EXPECT_EQ(judge(met()).reasons,
            std::vector<std::string>{"Reproduced: every figure of the paper lies within ours over "
                                     "the seeds and the tolerances of the rules."});
  EXPECT_EQ(judge(met_accuracy()).word, "reproduced");
}

TEST(Verdict, OneFigureThatDiffersIsNamedWithBothNumbers) {
  Row result = met();
  result.runs[1].rate = 8;
  const Verdict verdict = judge(result);
  EXPECT_EQ(verdict.word, "differs");
  EXPECT_EQ(verdict.reasons, std::vector<std::string>{"Differs: 1/L: the paper has 9, we measure 8."});

  Row slower = met();
  slower.runs[0].iterations = 1100;
  EXPECT_EQ(judge(slower).word, "differs");
  Row worse = met_accuracy();
  worse.runs[1].accuracy = 0.88;
  EXPECT_EQ(judge(worse).word, "differs");
}

TEST(Verdict, LossesOfTheFirstEpochsAreComparedToo) {
  Row result = met_accuracy();
  result.recipe.linear->best_epoch = true;
  result.recipe.linear->paper.losses = {2, 1};
  EXPECT_EQ(judge(result).word, "cut short");  // an older file, without losses
  result.runs[1].epoch_losses = {2.05, 0.98, 0.5};
  result.runs[1].last_accuracy = 0.8;
  const Verdict verdict = judge(result);
  EXPECT_EQ(verdict.word, "reproduced");
  EXPECT_EQ(verdict.reasons.back(), "With 1/L the best of 10 epochs is 90.50 %, the last 80.00 %.");
  result.runs[1].epoch_losses[1] = 0.9;
  EXPECT_EQ(judge(result).word, "differs");
  EXPECT_NE(judge(result).reasons[1].find("Differs: the loss of epoch 2 is 1.000"), std::string::npos);
}

TEST(Verdict, FiguresBetweenTheLeastAndTheMostOfTheSeedsAgree) {
  Row result = met();
  result.runs[1].iterations = 20;
  result.runs.push_back({"coded", 2, 9, 80, true});
  EXPECT_EQ(judge(result).word, "reproduced");
}

TEST(Verdict, ACountCutShortIsUnknownUnlessThePaperIsAlreadyBelow) {
  Row result = met();
  result.runs[0].complete = false;
  result.runs[0].iterations = 900;
  EXPECT_EQ(judge(result).word, "cut short");
  result.runs[0].iterations = 5000;
  EXPECT_EQ(judge(result).word, "differs");
}

TEST(Verdict, AThresholdAtTheLossOfZeroWeightsIsAnArtefact) {
  Row result = met();
  result.zero_loss = 0.5001;
  EXPECT_EQ(judge(result).word, "artefact");
  result.zero_loss = 0.51;
  EXPECT_EQ(judge(result).word, "reproduced");
}

TEST(Verdict, ANaiveLossThatIsNotANumberIsAnArtefact) {
  Row result = met();
  result.naive_loss = std::nan("");
  EXPECT_EQ(judge(result).word, "artefact");
}

TEST(Verdict, TheShareOfTheLargestClassIsAnArtefact) {
  Row result = met_accuracy();
  result.majority = 0.9005;
  EXPECT_EQ(judge(result).word, "artefact");
}

TEST(Verdict, AccuraciesOnFewRowsHeldOutMayLieFurtherApart) {
  Row result = met_accuracy();
  result.runs[1].accuracy = 0.86;
  EXPECT_EQ(judge(result).word, "differs");
  result.judged_held_out_rows = true;
  result.judged_rows = 100;  // two standard errors of 90 %: 2 sqrt(0.9 * 0.1 / 100) = 6 percent
  EXPECT_NEAR(accuracy_tolerance(result, 90), 6, 1e-12);
  EXPECT_EQ(judge(result).word, "reproduced");
  result.judged_rows = 1000000;
  EXPECT_EQ(judge(result).word, "differs");
}

TEST(Verdict, TheOtherRateBeingBetterOnTheMeanDiffersThoughEveryFigureAgrees) {
  Row result = met_accuracy();
  result.runs.push_back({"baseline", 2, 0.1, 10, true, linear::Stop::epochs, 0, 0.94});
  result.runs.push_back({"coded", 2, 9, 10, true, linear::Stop::epochs, 0, 0.55});
  // Means: 76.75 with 0.1, 72.75 with 1/L; the paper's 60 and 90 lie within the spread of either.
  const Verdict verdict = judge(result);
  EXPECT_EQ(verdict.word, "differs");
  ASSERT_EQ(verdict.reasons.size(), 1u);
  EXPECT_EQ(verdict.reasons[0].find("Differs: the order is reversed"), 0u) << verdict.reasons[0];

  // 40 rows held out for each of two seeds: two standard errors of 90 % are 2 sqrt(0.9 * 0.1 / 80) = 6.7 percent.
  result.judged_held_out_rows = true;
  result.judged_rows = 40;
  EXPECT_EQ(judge(result).word, "reproduced");
  result.runs[3].accuracy = 0.60;
  result.judged_held_out_rows = false;
  result.runs[2].accuracy = 0.90;  // the same order as the paper's, though barely
  EXPECT_EQ(judge(result).word, "reproduced");
}

TEST(Verdict, AnInterruptedRowIsNeverCalledReproduced) {
  Row result = met();
  result.interrupted = true;
  result.runs.pop_back();
  EXPECT_EQ(judge(result).word, "cut short");
  result.runs.clear();
  EXPECT_EQ(judge(result).word, "not run");
  EXPECT_EQ(judge(result).reasons, std::vector<std::string>{"Interrupted before this row."});
}

TEST(Verdict, FewerEpochsThanThePaperSettleNothing) {
  Row result = met_accuracy();
  result.epochs = 5;
  EXPECT_EQ(judge(result).word, "cut short");
}

TEST(Verdict, RowsNotRunSaySo) {
  Row result = met();
  result.runs.clear();
  result.out_of_time = true;
  EXPECT_EQ(judge(result).word, "not run");
  result.absent = {"energy"};
  EXPECT_EQ(judge(result).word, "no data");
}

TEST(Verdict, RatesOfScaledLogisticRowsAreComparedForThePapersNumberOfRows) {
  Row result = met();
  result.recipe.linear->family = linear::Family::logistic;
  result.recipe.linear->scaling = data::Scaling::column_sum;
  result.rows = 25;
  EXPECT_DOUBLE_EQ(rate_for_paper_rows(result, 1), 8);  // (100 / 25)^1.5
  result.recipe.linear->scaling = data::Scaling::none;
  EXPECT_DOUBLE_EQ(rate_for_paper_rows(result, 1), 1);
}

}  // namespace
}  // namespace lipschitzlr::experiment

#include "lipschitzlr/run/fit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/thread_communicator.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::json;

class FitTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  FitResult fit_iris(FitRequest options, Communicator* communicator = nullptr) {
    options.data.source = "iris";
    options.data.holdout = 0.3;
    return fit(options, prepare(options.data, communicator), communicator);
  }

  // Trains for as long as it is told to, without a penalty.
  static FitRequest patient() {
    FitRequest options;
    options.solver = Solver::accelerated;
    options.choose_l2 = false;
    options.tolerance = 0;
    return options;
  }

  std::string folder = testing::TempDir() + "lipschitzlr_training/";
};

TEST_F(FitTest, EverySolverLearnsIris) {
  for (const Solver solver : linear::kSolvers) {
    for (bool single : {false, true}) {
      FitRequest options = patient();
      options.solver = solver;
      options.single_precision = single;
      options.training.epochs = 300;
      options.training.batch = solver == Solver::sgd ? 32 : 0;
      const FitResult result = fit_iris(options);
      EXPECT_GT(result.test->accuracy, 0.9) << static_cast<int>(solver) << (single ? " single" : " double");
      EXPECT_LT(result.train.loss, 0.5 * result.train.constant_loss) << static_cast<int>(solver);
      EXPECT_EQ(result.checks.not_finite, 0);
    }
  }
}

TEST_F(FitTest, AFileResumesBitForBit) {
  FitRequest options = patient();
  options.solver = Solver::adamo;
  options.constant = linear::ConstantKind::published;
  options.training.batch = 16;
  options.training.epochs = 30;
  const FitResult whole = fit_iris(options);
  options.training.epochs = 12;
  linear::save_model(fit_iris(options).model, folder + "part.json");
  options.training.epochs = 30;
  options.resume = folder + "part.json";
  EXPECT_EQ(fit_iris(options).model.weights, whole.model.weights);
  options.training.batch = 32;
  try {
    fit_iris(options);
    FAIL() << "another batch size was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("batch = 16, this one has 32"), std::string::npos) << error.what();
  }
}

TEST_F(FitTest, ATeamOfAnySizeGoesOnWithATraining) {
  FitRequest options = patient();
  options.solver = Solver::sgd;
  options.training.batch = 16;
  options.training.epochs = 9;
  const FitResult whole = fit_iris(options);
  for (const int size : {2, 3}) {
    options.training.epochs = size == 2 ? 4 : 9;
    options.record = folder + "record" + std::to_string(size);
    const auto results = test::run_threads<FitResult>(
        size, [&](Communicator& communicator) { return fit_iris(options, &communicator); });
    for (const FitResult& result : results) EXPECT_EQ(result.model.weights, results[0].model.weights);
    linear::save_model(results[0].model, folder + "part.json");
    options.resume = folder + "part.json";
    if (size == 2) continue;
    EXPECT_TRUE(results[0].model.weights.isApprox(whole.model.weights, 1e-10));
    EXPECT_NEAR(results[0].test->loss, whole.test->loss, 1e-10);
    EXPECT_EQ(results[0].train.confusion, whole.train.confusion);
    EXPECT_EQ(results[0].rate_source, whole.rate_source);
  }
}

TEST_F(FitTest, ATeamThatWasAskedDifferentThingsRefusesInEveryProcess) {
  const auto complaints = test::run_threads<std::string>(3, [&](Communicator& communicator) -> std::string {
    FitRequest options = patient();
    options.training.seconds = communicator.rank() == 1 ? 1 : 2;
    try {
      fit_iris(options, &communicator);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  });
  for (const std::string& complaint : complaints) {
    EXPECT_NE(complaint.find("other options in rank 1 than in rank 0"), std::string::npos) << complaint;
  }
}

TEST_F(FitTest, WithNothingSetItChoosesPenaltyAndSolverAndProvesTheOptimum) {
  FitRequest options;
  options.data.source = "breast-cancer";
  options.data.holdout = 0.25;
  options.record = folder + "record";
  const FitResult result = fit(options, prepare(options.data));
  EXPECT_EQ(result.choice.solver, Solver::lbfgs);
  EXPECT_EQ(result.stop, linear::Stop::certified);
  EXPECT_LE(result.certified_gap, 1e-6);
  EXPECT_NE(result.verdict.find("of the optimum (certified)"), std::string::npos) << result.verdict;
  EXPECT_LE(result.test->loss, 0.06);
  EXPECT_GE(result.test->accuracy, 0.98);
  ASSERT_TRUE(result.chosen_penalty);
  const linear::PenaltyPath& path = result.chosen_penalty->path;
  EXPECT_EQ(result.l2, path.points[path.best].lambda);
  EXPECT_GE(result.seconds, result.chosen_penalty->seconds);
  const json summary = json::parse(read_file(options.record + "/summary.json"));
  EXPECT_EQ(summary["penalty_path"]["lambda"].size(), path.points.size());
  EXPECT_EQ(summary["penalty_path"]["best"], result.l2);
  EXPECT_EQ(summary["setting"]["l2"], result.l2);
  EXPECT_EQ(summary["verdict"], result.verdict);
}

TEST_F(FitTest, AnElasticNetIsChosenAndRecordedWithItsCurveAndItsParts) {
  FitRequest options;
  options.elastic_net = 0.25;
  options.path = 6;
  options.folds = 3;
  options.record = folder + "record";
  const FitResult result = fit_iris(options);
  ASSERT_TRUE(result.chosen_penalty);
  const linear::PenaltyPath& path = result.chosen_penalty->path;
  const double lambda = path.points[path.best].lambda;
  EXPECT_EQ(path.folds, 3);
  EXPECT_EQ(result.chosen_penalty->flags, "--elastic-net 0.25 --lambda");
  EXPECT_DOUBLE_EQ(result.l1, 0.25 * lambda);
  EXPECT_DOUBLE_EQ(result.l2, 0.75 * lambda);
  EXPECT_EQ(result.choice.solver, Solver::coordinate);
  EXPECT_EQ(result.stop, linear::Stop::certified);
  const json summary = json::parse(read_file(options.record + "/summary.json"));
  EXPECT_EQ(summary["penalty_path"]["lambda"].size(), 6u);
  EXPECT_EQ(summary["penalty_path"]["l1_share"], 0.25);
  EXPECT_EQ(summary["setting"]["lambda"], lambda);
  EXPECT_EQ(read_record(options.record).penalty.lambda.size(), 6u);

  FitRequest given;
  given.elastic_net = 0.25;
  given.lambda = lambda;
  const FitResult same = fit_iris(given);
  EXPECT_FALSE(same.chosen_penalty);
  EXPECT_EQ(same.model.weights, result.model.weights);
}

TEST_F(FitTest, AChosenL1PenaltyLeavesTheL2PenaltyThatIsGiven) {
  FitRequest options;
  options.choose_l1 = true;
  options.choose_l2 = false;
  options.data.l2 = 0.01;
  options.path = 5;
  const FitResult result = fit_iris(options);
  ASSERT_TRUE(result.chosen_penalty);
  EXPECT_EQ(result.chosen_penalty->flags, "--l1");
  EXPECT_EQ(result.l2, 0.01);
  EXPECT_EQ(result.l1, result.chosen_penalty->path.points[result.chosen_penalty->path.best].lambda);
}

TEST_F(FitTest, EarlyStoppingKeepsTheModelOfTheBestEpochInEveryProcess) {
  FitRequest options = patient();
  options.solver = Solver::sgd;
  options.training.rate = 0.5;
  options.training.batch = 16;
  options.training.patience = 3;
  options.training.epochs = 400;
  const FitResult alone = fit_iris(options);
  ASSERT_EQ(alone.stop, linear::Stop::patience);
  ASSERT_TRUE(alone.kept);
  EXPECT_EQ(alone.kept->rows, 11);  // a tenth of the 105 that are not for testing
  EXPECT_EQ(alone.kept->epoch + 3, alone.last.epoch);
  EXPECT_EQ(alone.train.rows, 94);
  EXPECT_EQ(alone.test->rows, 45);
  EXPECT_EQ(json::parse(alone.model.training)["converged"], true);
  const auto results =
      test::run_threads<FitResult>(2, [&](Communicator& communicator) { return fit_iris(options, &communicator); });
  for (const FitResult& result : results) {
    EXPECT_EQ(result.kept->epoch, alone.kept->epoch);
    EXPECT_TRUE(result.model.weights.isApprox(alone.model.weights, 1e-9));
  }
}

TEST_F(FitTest, EverySolverResumesBitForBitWithThePenaltyThatWasChosen) {
  for (const Solver solver : linear::kSolvers) {
    FitRequest options;
    options.solver = solver;
    options.tolerance = 0;
    options.training.epochs = 6;
    const FitResult whole = fit_iris(options);
    options.training.epochs = 2;
    linear::save_model(fit_iris(options).model, folder + "part.json");
    options.training.epochs = 6;
    options.resume = folder + "part.json";
    const FitResult resumed = fit_iris(options);
    EXPECT_EQ(resumed.l2, whole.l2);
    EXPECT_FALSE(resumed.chosen_penalty);
    EXPECT_EQ(resumed.model.weights, whole.model.weights) << to_string(solver);
  }
}

TEST_F(FitTest, TheInterceptIsPenalisedOnlyWhenAskedFor) {
  // A penalty that leaves nothing but the intercept: then it is the mean of the target, 0 when it is penalised too.
  FitRequest options;
  options.data.source = "diabetes";
  options.choose_l2 = false;
  options.data.l2 = 1e12;
  const Prepared prepared = prepare(options.data);
  const double mean = prepared.train.target.mean();
  EXPECT_NEAR(fit(options, prepared).model.weights(10, 0), mean, 1e-6 * mean);
  options.data.penalize_intercept = true;
  EXPECT_NEAR(fit(options, prepare(options.data)).model.weights(10, 0), 0, 1e-6);
}

TEST_F(FitTest, SeveralProcessesChooseThePenaltyOfOne) {
  FitRequest options;
  options.path = 5;
  const FitResult alone = fit_iris(options);
  const auto results =
      test::run_threads<FitResult>(2, [&](Communicator& communicator) { return fit_iris(options, &communicator); });
  for (const FitResult& result : results) {
    EXPECT_NEAR(result.l2, alone.l2, 1e-12 * alone.l2);
    EXPECT_EQ(result.model.weights, results[0].model.weights);
    EXPECT_TRUE(result.model.weights.isApprox(alone.model.weights, 1e-6));
  }
}

TEST_F(FitTest, AnUnfinishedOrUselessTrainingSaysSo) {
  FitRequest options = patient();
  options.training.epochs = 0;
  const FitResult poor = fit_iris(options);
  ASSERT_EQ(poor.warnings.size(), 2u);
  EXPECT_NE(poor.warnings[0].find("not converged"), std::string::npos);
  EXPECT_NE(poor.warnings[1].find("nothing learnt"), std::string::npos);
  const json summary = json::parse(poor.model.training);
  EXPECT_EQ(summary["converged"], false);
  EXPECT_EQ(summary["warnings"], poor.warnings);

  FitRequest good;
  good.solver = Solver::lbfgs;
  const FitResult converged = fit_iris(good);
  EXPECT_TRUE(converged.warnings.empty());
  EXPECT_EQ(json::parse(converged.model.training)["converged"], true);
}

TEST_F(FitTest, WeightsOfRowsCountAsRepeatedRows) {
  const std::string rows[] = {"1,0.5,a", "2,-1,b", "0.5,2,a", "3,1,b", "-1,0.25,b", "2.5,2.5,a"};
  const int counts[] = {1, 3, 2, 1, 4, 2};
  std::string weighted = "x,z,n,y\n", repeated = "x,z,y\n";
  for (int i = 0; i < 6; ++i) {
    const std::size_t comma = rows[i].rfind(',');
    weighted += rows[i].substr(0, comma) + "," + std::to_string(counts[i]) + rows[i].substr(comma) + "\n";
    for (int n = 0; n < counts[i]; ++n) repeated += rows[i] + "\n";
  }
  write_file_atomically(folder + "weighted.csv", weighted);
  write_file_atomically(folder + "repeated.csv", repeated);
  FitRequest options;
  options.choose_l2 = false;
  options.data.l2 = 0.1;
  options.tolerance = 0;
  using data::Scaling;
  for (int i = 0; i < 8; ++i) {
    const std::string balance = i % 2 == 0 ? "" : "a=2,b=0.5";
    options.data.scaling = std::array{Scaling::none, Scaling::standard, Scaling::column_sum,
                                      Scaling::min_max}[static_cast<std::size_t>(i / 2)];
    options.data.class_weight = balance;
    options.data.source = folder + "weighted.csv";
    options.data.weight = "n";
    const FitResult one = fit(options, prepare(options.data));
    options.data.source = folder + "repeated.csv";
    options.data.weight = "";
    const FitResult other = fit(options, prepare(options.data));
    EXPECT_TRUE(one.model.weights.isApprox(other.model.weights, 1e-8)) << balance;
    EXPECT_NEAR(one.last.loss, other.last.loss, 1e-12) << balance;
    EXPECT_NEAR(one.train.accuracy, other.train.accuracy, 1e-12) << balance;
    EXPECT_EQ(one.model.feature_names, (std::vector<std::string>{"x", "z"}));
  }
}

TEST_F(FitTest, BalancedClassesMoveTheInterceptAsIfTheyWereEqual) {
  // Without features the optimum is the log of the odds: of 3 to 1, and of 1 to 1 once balanced.
  write_file_atomically(folder + "odds.csv", "x,y\n0,a\n0,b\n0,b\n0,b\n");
  FitRequest options;
  options.data.source = folder + "odds.csv";
  options.tolerance = 0;
  options.choose_l2 = false;
  options.data.l2 = 1;
  EXPECT_NEAR(fit(options, prepare(options.data)).model.weights(1, 0), std::log(3.0), 1e-5);
  options.data.class_weight = "balanced";
  EXPECT_NEAR(fit(options, prepare(options.data)).model.weights(1, 0), 0, 1e-9);
  options.data.class_weight = "b=2,a=5";
  EXPECT_NEAR(fit(options, prepare(options.data)).model.weights(1, 0), std::log(6.0 / 5), 1e-5);
}

TEST_F(FitTest, AFinishedTrainingHasNothingToResume) {
  FitRequest options = patient();
  options.training.gradient_tolerance = 1e-2;
  linear::save_model(fit_iris(options).model, folder + "done.json");
  options.resume = folder + "done.json";
  EXPECT_THROW(fit_iris(options), Error);
}

TEST_F(FitTest, TheRecordHoldsConfigMetricsAndSummary) {
  FitRequest options = patient();
  options.training.epochs = 5;
  options.record = folder + "record";
  const FitResult result = fit_iris(options);
  const json config = json::parse(read_file(options.record + "/config.json"));
  EXPECT_EQ(config["kind"], "fit");
  EXPECT_EQ(config["options"]["data"], "iris");
  const json summary = json::parse(read_file(options.record + "/summary.json"));
  EXPECT_EQ(summary["loss"], result.last.loss);
  EXPECT_EQ(summary["honesty"]["not_finite"], 0);
  const std::string metrics = read_file(options.record + "/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 6);
  EXPECT_THROW(fit_iris(options), Error) << "an earlier record would be overwritten";
}

TEST_F(FitTest, OptionsThatDoNotFitOneAnotherAreRefused) {
  const auto refusal = [&](const FitRequest& options) -> std::string {
    try {
      fit_iris(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "accepted";
  };
  FitRequest options;
  options.solver = Solver::gd;
  options.training.rate = -1;
  EXPECT_NE(refusal(options).find("--rate"), std::string::npos);
  options.training.rate = 0.1;
  options.training.recompute = linear::Recompute::epoch;
  EXPECT_NE(refusal(options).find("leave out --recompute"), std::string::npos);
  options.solver = Solver::lbfgs;
  EXPECT_NE(refusal(options).find("--solver lbfgs takes neither"), std::string::npos);
  options = {};
  options.folds = 3;
  options.choose_l2 = false;
  EXPECT_NE(refusal(options).find("--folds"), std::string::npos);
  options.choose_l2 = true;
  options.resume = "m.json";
  EXPECT_NE(refusal(options).find("--resume takes from the unfinished run"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::run

#include "lipschitzlr/run/fit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/thread_communicator.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

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
    return fit(options, prepare(options.data), communicator);
  }

  // Trains for as long as it is told to.
  static FitRequest patient() {
    FitRequest options;
    options.training.relative_tolerance = 0;
    return options;
  }

  std::string folder = testing::TempDir() + "lipschitzlr_training/";
};

TEST_F(FitTest, EverySolverLearnsIris) {
  for (const Solver solver : {Solver::accelerated, Solver::gd, Solver::sgd, Solver::adamo, Solver::rmsprop,
                              Solver::auto_adam, Solver::lbfgs}) {
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
  options.training.rate = -1;
  EXPECT_NE(refusal(options).find("--rate"), std::string::npos);
  options.training.rate = 0.1;
  options.training.recompute = linear::Recompute::epoch;
  EXPECT_NE(refusal(options).find("leave out --recompute"), std::string::npos);
  options.solver = Solver::lbfgs;
  EXPECT_NE(refusal(options).find("--solver lbfgs takes neither"), std::string::npos);
}

}  // namespace
}  // namespace lipschitzlr::run

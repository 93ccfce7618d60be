#include "lipschitzlr/run/training.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/thread_communicator.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::json;

class TrainingTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  TrainingResult train_iris(const TrainingChoice& choice, Communicator* communicator = nullptr) {
    DataChoice data;
    data.source = "iris";
    data.holdout = 0.3;
    return train(data, prepare(data), choice, communicator);
  }

  std::string folder = testing::TempDir() + "lipschitzlr_training/";
};

TEST_F(TrainingTest, EverySolverLearnsIris) {
  for (const std::string solver : {"accelerated", "gd", "sgd", "adamo", "rmsprop", "auto-adam", "lbfgs"}) {
    for (bool single : {false, true}) {
      TrainingChoice choice;
      choice.solver = solver;
      choice.single_precision = single;
      choice.options.epochs = 300;
      choice.options.batch = solver == "sgd" ? 32 : 0;
      const TrainingResult result = train_iris(choice);
      EXPECT_GT(result.test->accuracy, 0.9) << solver << (single ? " single" : " double");
      EXPECT_LT(result.train.loss, 0.5 * result.train.constant_loss) << solver;
      EXPECT_EQ(result.checks.not_finite, 0);
    }
  }
}

TEST_F(TrainingTest, AFileResumesBitForBit) {
  TrainingChoice choice;
  choice.solver = "adamo";
  choice.rate = "published";
  choice.options.batch = 16;
  choice.options.epochs = 30;
  const TrainingResult whole = train_iris(choice);
  choice.options.epochs = 12;
  linear::save_model(train_iris(choice).model, folder + "part.json");
  choice.options.epochs = 30;
  choice.resume = folder + "part.json";
  EXPECT_EQ(train_iris(choice).model.weights, whole.model.weights);
  choice.options.batch = 32;
  try {
    train_iris(choice);
    FAIL() << "another batch size was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("batch = 16, this one has 32"), std::string::npos) << error.what();
  }
}

TEST_F(TrainingTest, ATeamOfAnySizeGoesOnWithATraining) {
  TrainingChoice choice;
  choice.solver = "sgd";
  choice.options.batch = 16;
  choice.options.epochs = 9;
  const TrainingResult whole = train_iris(choice);
  for (const int size : {2, 3}) {
    choice.options.epochs = size == 2 ? 4 : 9;
    choice.record = folder + "record" + std::to_string(size);
    const auto results = test::run_threads<TrainingResult>(
        size, [&](Communicator& communicator) { return train_iris(choice, &communicator); });
    for (const TrainingResult& result : results) EXPECT_EQ(result.model.weights, results[0].model.weights);
    linear::save_model(results[0].model, folder + "part.json");
    choice.resume = folder + "part.json";
    if (size == 2) continue;
    EXPECT_TRUE(results[0].model.weights.isApprox(whole.model.weights, 1e-10));
    EXPECT_NEAR(results[0].test->loss, whole.test->loss, 1e-10);
    EXPECT_EQ(results[0].train.confusion, whole.train.confusion);
    EXPECT_EQ(results[0].rate_source, whole.rate_source);
  }
}

TEST_F(TrainingTest, ATeamThatWasAskedDifferentThingsRefusesInEveryProcess) {
  const auto complaints = test::run_threads<std::string>(3, [&](Communicator& communicator) -> std::string {
    TrainingChoice choice;
    choice.options.seconds = communicator.rank() == 1 ? 1 : 2;
    try {
      train_iris(choice, &communicator);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  });
  for (const std::string& complaint : complaints) {
    EXPECT_NE(complaint.find("other options in rank 1 than in rank 0"), std::string::npos) << complaint;
  }
}

TEST_F(TrainingTest, AFinishedTrainingHasNothingToResume) {
  TrainingChoice choice;
  choice.options.gradient_tolerance = 1e-2;
  linear::save_model(train_iris(choice).model, folder + "done.json");
  choice.resume = folder + "done.json";
  EXPECT_THROW(train_iris(choice), Error);
}

TEST_F(TrainingTest, TheRecordHoldsConfigMetricsAndSummary) {
  TrainingChoice choice;
  choice.options.epochs = 5;
  choice.record = folder + "record";
  const TrainingResult result = train_iris(choice);
  const json config = json::parse(read_file(choice.record + "/config.json"));
  EXPECT_EQ(config["data"], "iris");
  const json summary = json::parse(read_file(choice.record + "/summary.json"));
  EXPECT_EQ(summary["loss"], result.last.loss);
  EXPECT_EQ(summary["honesty"]["not_finite"], 0);
  const std::string metrics = read_file(choice.record + "/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 6);
  EXPECT_THROW(train_iris(choice), Error) << "an earlier record would be overwritten";
}

TEST_F(TrainingTest, UnknownChoicesAreNamed) {
  TrainingChoice choice;
  choice.solver = "newton";
  EXPECT_THROW(train_iris(choice), Error);
  choice.solver = "gd";
  choice.rate = "fast";
  try {
    train_iris(choice);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("--rate fast"), std::string::npos);
  }
}

}  // namespace
}  // namespace lipschitzlr::run

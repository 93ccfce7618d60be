#include "lipschitzlr/run/prepare.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/run/rate_report.hpp"

namespace lipschitzlr::run {
namespace {

using linear::ConstantKind;
using linear::Family;

DataOptions options_of_source(const std::string& source) {
  DataOptions options;
  options.source = source;
  return options;
}

DataOptions as_in_the_paper(const std::string& source) {
  DataOptions options = options_of_source(source);
  options.scaling = data::Scaling::column_sum;
  return options;
}

double problem_rate(const Prepared& prepared, ThreadPool& pool, ConstantKind kind) {
  return linear::make_problem<double>(prepared.train, prepared, pool)->constant(kind).rate();
}

double rate_of(const DataOptions& options, ConstantKind kind) {
  ThreadPool pool(1);
  return problem_rate(prepare(options), pool, kind);
}

TEST(Prepare, GivesTheRatesOfThePaper) {
  // method.md, sections 1, 2 and 4; checked with NumPy.
  EXPECT_NEAR(rate_of(as_in_the_paper("breast-cancer"), ConstantKind::published), 4280.227670674592, 1e-8);
  EXPECT_NEAR(rate_of(as_in_the_paper("boston"), ConstantKind::coded), 8.313331856999842, 1e-10);
  EXPECT_NEAR(rate_of(as_in_the_paper("boston"), ConstantKind::published), 4.767674272856171, 1e-10);
  EXPECT_NEAR(rate_of(as_in_the_paper("boston"), ConstantKind::gradient), 14397.830940573871, 1e-4);
  EXPECT_NEAR(rate_of(as_in_the_paper("breast-cancer"), ConstantKind::gradient), 37639, 1);
}

TEST(Prepare, ChoosesTheModelByTheTarget) {
  EXPECT_EQ(prepare(options_of_source("diabetes")).setup.family, Family::linear);
  EXPECT_EQ(prepare(options_of_source("breast-cancer")).setup.family, Family::logistic);
  const Prepared iris = prepare(options_of_source("iris"));
  EXPECT_EQ(iris.setup.family, Family::softmax);
  EXPECT_EQ(iris.setup.classes, 3);
  EXPECT_EQ(iris.train.labels, (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
}

TEST(Prepare, TheIterationBoundRestsOnALossThatIsNotAboveTheOptimum) {
  // By hand: y = 1, 0, 0 and one constant feature c: the optimum is w c = 1/3, f* = 1/9.
  for (const double size : {1.0, 1e-8}) {
    Prepared prepared;
    prepared.train.features = DenseMatrix<double>(DenseMatrix<double>::Constant(3, 1, size));
    prepared.train.feature_names = {"c"};
    prepared.train.target = Vector<double>{{1, 0, 0}};
    static_cast<linear::Preparation&>(prepared) =
        linear::prepare(prepared.train, linear::Family::linear, {.scaling = data::Scaling::none, .intercept = false});
    const RateReport report = report_rates(prepared, {});
    EXPECT_LE(report.loss_floor, 1.0 / 9) << size;
    EXPECT_NEAR(report.loss_floor, 1.0 / 9, 1e-6) << size;
    // 2 beta (f(0) - f*) / (|g| / 1000)^2 with beta = c^2, f(0) = 1/6, g = -c/3
    EXPECT_NEAR(report.iterations, 1e6, 10) << size;
  }
}

TEST(Prepare, AModelThatDoesNotFitTheTargetIsRefused) {
  const auto refusal = [](const std::string& source, linear::Family model) -> std::string {
    DataOptions options = options_of_source(source);
    options.model = model;
    try {
      prepare(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal("iris", Family::linear).find("setosa, versicolor, virginica"), std::string::npos);
  EXPECT_NE(refusal("iris", Family::logistic).find("take softmax"), std::string::npos);
  EXPECT_EQ(refusal("breast-cancer", Family::softmax), "accepted");
}

TEST(Prepare, TheHoldoutIsSetAsideBeforeTheScalingIsLearnt) {
  DataOptions options = options_of_source("wine");
  options.holdout = 0.25;
  const Prepared prepared = prepare(options);
  EXPECT_EQ(prepared.train.rows() + prepared.test.rows(), 178);
  EXPECT_NEAR(static_cast<double>(prepared.test.rows()), 0.25 * 178, 1);
  const double mean = std::get<DenseMatrix<double>>(prepared.train.features).col(0).mean();
  EXPECT_NEAR(prepared.scaler.offsets[0], mean, 1e-12);
}

TEST(Prepare, GammaComesFromANumberOrAFile) {
  const std::string folder = testing::TempDir();
  write_file_atomically(folder + "diagonal.csv", "1,2,3,4,0\n");
  write_file_atomically(folder + "matrix.csv", "1,0,0,0,0\n0,2,0,0,0\n0,0,3,0,0\n0,0,0,4,0\n0,0,0,0,0\n");
  DataOptions options = options_of_source("iris");
  for (const std::string& file : {folder + "diagonal.csv", folder + "matrix.csv"}) {
    options.tikhonov = file;
    EXPECT_NEAR(prepare(options).setup.penalty.tikhonov.gram_spectral_norm(), 16, 1e-8) << file;
  }
  options.tikhonov = "0.5";
  EXPECT_NEAR(prepare(options).setup.penalty.tikhonov.gram_spectral_norm(), 0.25, 1e-12);
  options.tikhonov = "no-such-file";
  EXPECT_THROW(prepare(options), Error);
}

TEST(Prepare, ASourceThatIsNeitherFileNorNameIsAnError) {
  EXPECT_THROW(prepare(options_of_source("no-such-thing")), Error);
}

}  // namespace
}  // namespace lipschitzlr::run

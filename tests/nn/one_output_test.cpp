// Networks of one output: regression and two classes, from the rows of a table.

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/batch/table_examples.hpp"
#include "lipschitzlr/nn/tap.hpp"
#include "lipschitzlr/nn/trainer.hpp"

namespace lipschitzlr::nn {
namespace {

using bound::ConstantKind;

const std::vector<double> kOutputs = {0.3, -2, 40, -40, 0}, kNumbers = {1, -0.5, 39, -41, 2},
                          kClasses = {1, 0, 1, 1, 0};

at::Tensor column(const std::vector<double>& values) { return at::tensor(values, at::kDouble).unsqueeze(1); }

double reference(TrainingLoss loss, double output, double target) {
  if (loss == TrainingLoss::squared_error) return (output - target) * (output - target) / 2;
  return std::max(output, 0.0) - target * output + std::log1p(std::exp(-std::abs(output)));
}

TEST(OneOutput, LossesAndGradientsAreThoseOfTheFormula) {
  for (const TrainingLoss loss : {TrainingLoss::squared_error, TrainingLoss::binary_cross_entropy}) {
    const std::vector<double>& targets = loss == TrainingLoss::squared_error ? kNumbers : kClasses;
    at::Tensor outputs = column(kOutputs).requires_grad_();
    const at::Tensor value = training_loss(loss, outputs, at::tensor(targets, at::kDouble));
    value.backward();
    double sum = 0;
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      sum += reference(loss, kOutputs[i], targets[i]);
      const double slope =
          (reference(loss, kOutputs[i] + kStep, targets[i]) - reference(loss, kOutputs[i] - kStep, targets[i])) /
          (2 * kStep);
      EXPECT_NEAR(outputs.grad()[static_cast<Index>(i)].item<double>(), slope / 5, 1e-8);
    }
    EXPECT_NEAR(value.item<double>(), sum / 5, 1e-12);
    EXPECT_NEAR(training_loss(loss, outputs, at::tensor(targets, at::kDouble), at::Reduction::Sum).item<double>(), sum,
                1e-12);
    // Targets are doubles, networks are not.
    EXPECT_NEAR(training_loss(loss, outputs.to(at::kFloat), at::tensor(targets, at::kDouble)).item<double>(), sum / 5,
                1e-5);
  }
}

TEST(OneOutput, TheTapKeepsTheLargestNormsOfOutputsAndTargets) {
  Tap tap(1);
  tap.observe(at::tensor({3.0, 4.0}).reshape({1, 2}));
  tap.observe_numbers(column({-6}), at::tensor({2.0}));
  tap.observe(at::tensor({1.0, 0.0, 0.0, 1.0}).reshape({2, 2}));
  tap.observe_numbers(column({3, 4}), at::tensor({6.0, 8.0}));
  EXPECT_DOUBLE_EQ(tap.reading().last.output_norm, 5);
  EXPECT_DOUBLE_EQ(tap.reading().largest.output_norm, 6);
  EXPECT_DOUBLE_EQ(tap.reading().largest.target_norm, 10);
  // 1/m (K_a + ||y||) K_z, with m = 2 and K_z = 5.
  EXPECT_DOUBLE_EQ(squared_error()(ConstantKind::published, tap.reading().largest).value, (6 + 10) / 2.0 * 5);
  EXPECT_DOUBLE_EQ(squared_error()(ConstantKind::certified, tap.reading().largest).value, (6 + 10) / 2.0 * 5);
  PenultimateNorms aside;
  tap.divert(&aside);
  tap.observe(at::tensor({1.0, 1.0}).reshape({1, 2}));
  tap.observe_numbers(column({100}), at::tensor({1.0}));
  EXPECT_DOUBLE_EQ(aside.output_norm, 100);
  EXPECT_DOUBLE_EQ(tap.reading().largest.output_norm, 6);
}

// y = x1 - 2 x2 + noise; class 1 where that is positive.
data::Table rows_of(Index count, bool classes) {
  Random random(3);
  data::Table table;
  DenseMatrix<double> features(count, 2);
  table.target.resize(count);
  for (Index i = 0; i < count; ++i) {
    features(i, 0) = random.normal();
    features(i, 1) = random.normal();
    const double y = features(i, 0) - 2 * features(i, 1) + 0.1 * random.normal();
    table.target[i] = classes ? y > 0 : y;
  }
  table.features = features;
  table.feature_names = {"x1", "x2"};
  if (classes) table.labels = {"no", "yes"};
  return table;
}

data::TableExamples examples_of(const data::Table& table) {
  return {table, data::Scaler::learn(data::Scaling::none, table.features, false),
          static_cast<Index>(table.labels.size())};
}

TrainerOptions options_for(TrainingLoss loss, const std::string& optimizer) {
  TrainerOptions options;
  options.network = "mlp-16";
  options.loss = loss;
  options.optimizer = optimizer;
  options.schedule_epochs = 30;
  options.batch = 16;
  options.threads = 1;
  return options;
}

const auto kGoOn = [](const StepReport&) { return true; };

TEST(OneOutput, RegressionLearnsAndItsAccuracyIsRSquared) {
  const data::Table table = rows_of(256, false);
  const data::TableExamples examples = examples_of(table);
  for (const char* optimizer : {"auto", "sgd"}) {
    Trainer trainer(options_for(TrainingLoss::squared_error, optimizer), examples, data::all_of(examples));
    while (trainer.epochs_done() < 30) ASSERT_TRUE(trainer.run_epoch(kGoOn));
    DenseMatrix<double> scores;
    const Evaluation result = trainer.evaluate(examples, data::all_of(examples), &scores);
    ASSERT_EQ(scores.cols(), 1);
    const double squares = (scores.col(0) - table.target).squaredNorm();
    const double spread = (table.target.array() - table.target.mean()).square().sum();
    EXPECT_NEAR(result.loss, squares / 512, 1e-6 * squares);
    EXPECT_NEAR(result.accuracy, 1 - squares / spread, 1e-6);
    EXPECT_GT(result.accuracy, 0.8) << optimizer;
    EXPECT_GT(trainer.epoch_report().accuracy, 0.7) << optimizer;
  }
}

TEST(OneOutput, TheRateOfARegressionIsThatOfTheMeasuredConstant) {
  const data::Table table = rows_of(48, false);
  const data::TableExamples examples = examples_of(table);
  TrainerOptions options = options_for(TrainingLoss::squared_error, "sgd");
  options.network = "softmax";  // one layer at zero: A = X, outputs 0
  options.batch = 48;
  options.controller.rule_options.update = rate::Update::per_iteration;
  Trainer trainer(options, examples, data::all_of(examples));
  double rate = 0;
  trainer.run_epoch([&](const StepReport& step) { return rate = step.rate, true; });
  const double feature_norm = std::get<DenseMatrix<double>>(table.features).norm();
  EXPECT_NEAR(rate * table.target.norm() * feature_norm / 48, 1, 1e-6);
}

TEST(OneOutput, TwoClassesAreToldApartByOneScore) {
  const data::Table table = rows_of(256, true);
  const data::TableExamples examples = examples_of(table);
  Trainer trainer(options_for(TrainingLoss::binary_cross_entropy, "auto"), examples, data::all_of(examples));
  while (trainer.epochs_done() < 30) ASSERT_TRUE(trainer.run_epoch(kGoOn));
  DenseMatrix<double> scores;
  const Evaluation result = trainer.evaluate(examples, data::all_of(examples), &scores);
  double loss = 0, right = 0;
  for (Index i = 0; i < 256; ++i) {
    loss += reference(TrainingLoss::binary_cross_entropy, scores(i, 0), table.target[i]) / 256;
    right += (scores(i, 0) > 0) == (table.target[i] > 0);
  }
  EXPECT_EQ(scores.cols(), 1);
  EXPECT_NEAR(result.loss, loss, 1e-6);
  EXPECT_DOUBLE_EQ(result.accuracy, right / 256);
  EXPECT_GT(result.accuracy, 0.9);
}

TEST(OneOutput, ContinuesBitForBitFromTheMiddleOfAnEpoch) {
  const data::Table table = rows_of(80, false);
  const data::TableExamples examples = examples_of(table);
  for (const char* optimizer : {"sgd", "auto"}) {
    const TrainerOptions options = options_for(TrainingLoss::squared_error, optimizer);
    Trainer whole(options, examples, data::all_of(examples)), begun(options, examples, data::all_of(examples)),
        resumed(options, examples, data::all_of(examples));
    const std::string path = testing::TempDir() + "/one_output.safetensors";
    ASSERT_FALSE(begun.run_epoch([](const StepReport& step) { return step.step < 3; }));
    begun.save(path, {});
    resumed.load(path);
    for (Trainer* trainer : {&whole, &resumed}) {
      while (trainer->epochs_done() < 2) ASSERT_TRUE(trainer->run_epoch(kGoOn));
    }
    EXPECT_EQ(whole.epoch_report().loss, resumed.epoch_report().loss) << optimizer;
    EXPECT_EQ(whole.epoch_report().rate, resumed.epoch_report().rate) << optimizer;
    EXPECT_EQ(whole.evaluate(examples, data::all_of(examples)).loss,
              resumed.evaluate(examples, data::all_of(examples)).loss);
  }
}

TEST(OneOutput, LossesThatDoNotFitTheTargetsAreRefused) {
  const data::Table numbers = rows_of(8, false), classes = rows_of(8, true);
  const data::TableExamples of_numbers = examples_of(numbers), of_classes = examples_of(classes);
  const auto refused = [](TrainingLoss loss, const data::Examples& examples) {
    EXPECT_THROW(Trainer(options_for(loss, "adam"), examples, data::all_of(examples)), Error);
  };
  refused(TrainingLoss::cross_entropy, of_numbers);
  refused(TrainingLoss::binary_cross_entropy, of_numbers);
  refused(TrainingLoss::squared_error, of_classes);
  Trainer trainer(options_for(TrainingLoss::cross_entropy, "adam"), of_classes, data::all_of(of_classes));
  EXPECT_THROW(trainer.evaluate(data::ImageSet(), {}), Error);
}

}  // namespace
}  // namespace lipschitzlr::nn

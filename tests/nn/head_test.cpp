#include "lipschitzlr/nn/head.hpp"

#include <gtest/gtest.h>
#include <torch/nn.h>

#include "lipschitzlr/nn/optimizers.hpp"

namespace lipschitzlr::nn {
namespace {

TEST(Head, IsALinearThatMeasuresInTrainingOnly) {
  torch::manual_seed(3);
  Head head(6, 3);
  const torch::Tensor a = torch::randn({4, 6});
  EXPECT_TRUE(torch::equal(head(a), torch::nn::functional::linear(a, head->weight, head->bias)));
  EXPECT_NEAR(head->tap()->reading().last.frobenius, a.norm().item<double>(), 1e-6);
  EXPECT_EQ(head->tap()->reading().last.rows, 4);
  head->eval();
  head(2 * a);
  EXPECT_EQ(head->tap()->reading().batches, 1);
  head->measure_always(true);
  head(2 * a);
  EXPECT_EQ(head->tap()->reading().batches, 2);
  EXPECT_NEAR(head->tap()->reading().largest.frobenius, 2 * a.norm().item<double>(), 1e-5);
}

TEST(Head, StandsInASequentialBehindDropout) {
  torch::manual_seed(3);
  Head head(50, 2);
  torch::nn::Sequential model(torch::nn::Linear(5, 50), torch::nn::ReLU(), torch::nn::Dropout(0.5), head);
  model->forward(torch::ones({8, 5}));
  const double with_dropout = head->tap()->reading().last.frobenius;
  model->eval();
  head->measure_always(true);
  model->forward(torch::ones({8, 5}));
  // Dropout keeps half of the numbers, each twice as large: the norm grows by about sqrt(2).
  EXPECT_NEAR(with_dropout / head->tap()->reading().last.frobenius, std::sqrt(2), 0.25);
}

TEST(Tap, KeepsTheLargestOfEachNumber) {
  Tap tap;
  tap.add({3, 8, 9, 4});
  tap.add({2, 12, 10, 8});
  tap.add({1, 3, 1, 1});  // mean row norm 3, the largest
  const TapReading& reading = tap.reading();
  EXPECT_EQ(reading.largest.frobenius, 3);
  EXPECT_EQ(reading.largest.square_frobenius, 10);
  EXPECT_EQ(reading.largest.rows, 8);
  EXPECT_DOUBLE_EQ(reading.largest.row_norm_sum, 3 * 8);
  EXPECT_EQ(reading.last.frobenius, 1);
  tap.reset();
  EXPECT_EQ(tap.reading().batches, 0);
}

// The gradient of each loss with respect to the head's weights, by differences, and that it never passes the bound that
// is certified for the activations that were measured.
enum class LossKind { multiclass, binary, regression };

class HeadLoss : public testing::TestWithParam<LossKind> {
 protected:
  static torch::Tensor loss(LossKind kind, const torch::Tensor& scores) {
    const Index rows = scores.size(0);
    const torch::Tensor classes = torch::arange(rows) % scores.size(1);
    if (kind == LossKind::multiclass) return torch::cross_entropy_loss(scores, classes);
    if (kind == LossKind::binary) {
      const torch::Tensor targets = (torch::arange(rows) % 2).to(torch::kDouble).unsqueeze(1);
      return torch::binary_cross_entropy_with_logits(scores, targets);
    }
    return 0.5 * (scores - 1.5).square().sum() / static_cast<double>(rows);
  }
};

TEST_P(HeadLoss, HasTheGradientThatDifferencesShow) {
  torch::manual_seed(5);
  const Index outputs = GetParam() == LossKind::multiclass ? 3 : 1;
  Head head(torch::nn::LinearOptions(4, outputs).bias(false));
  head->to(torch::kDouble);
  const torch::Tensor a = torch::randn({6, 4}, torch::kDouble);
  const torch::Tensor scores = head(a);
  loss(GetParam(), scores).backward();
  const torch::NoGradGuard no_grad;
  torch::Tensor& w = head->weight;
  for (Index i = 0; i < outputs; ++i) {
    for (Index j = 0; j < 4; ++j) {
      constexpr double kStep = 1e-5;
      w[i][j] += kStep;
      const double above = loss(GetParam(), head(a)).item<double>();
      w[i][j] -= 2 * kStep;
      const double below = loss(GetParam(), head(a)).item<double>();
      w[i][j] += kStep;
      EXPECT_NEAR(w.grad()[i][j].item<double>(), (above - below) / (2 * kStep), 1e-8);
    }
  }
  ControllerOptions options;
  options.variant = bound::ConstantKind::certified;
  if (GetParam() == LossKind::binary) options.loss = binary_cross_entropy();
  if (GetParam() == LossKind::regression) {
    options.loss = squared_error(scores.norm().item<double>(), torch::full({6, 1}, 1.5).norm().item<double>());
  }
  LipschitzSGD optimizer({w}, head, options);
  optimizer.controller().begin_step();
  EXPECT_LE(w.grad().norm().item<double>(), 1 / optimizer.controller().rate());
}

INSTANTIATE_TEST_SUITE_P(Losses, HeadLoss,
                         testing::Values(LossKind::multiclass, LossKind::binary, LossKind::regression));

}  // namespace
}  // namespace lipschitzlr::nn

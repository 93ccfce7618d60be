#include "lipschitzlr/nn/step_check.hpp"

#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/types.h>

#include <cmath>

#include "lipschitzlr/nn/models.hpp"
#include "lipschitzlr/nn/training_loss.hpp"

namespace lipschitzlr::nn {
namespace {

// ||dL/dW||_F of a head after one backward pass, and its tight constant.
struct HeadNorms {
  double gradient, tight;
};

HeadNorms measure_head(Head& head, const at::Tensor& activations, const at::Tensor& labels, TrainingLoss loss) {
  head->zero_grad();
  head->tap()->want_tight_constant(true);
  training_loss(loss, head(activations), labels).backward();
  return {head->weight.grad().norm().item<double>(), head->tap()->take_tight_constant()};
}

TEST(TightConstant, IsNeverExceededAndMetByASingleRow) {
  torch::manual_seed(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Index rows = 1 + trial % 9, columns = 1 + trial % 5, classes = 2 + trial % 4;
    Head head(torch::nn::LinearOptions(columns, classes));
    head->to(at::kDouble);
    const double scale = std::pow(10, trial % 5 - 2);
    const at::Tensor activations = scale * torch::randn({rows, columns}, at::kDouble);
    const at::Tensor labels = torch::randint(classes, {rows}, at::kLong);
    for (const TrainingLoss loss : {TrainingLoss::cross_entropy, TrainingLoss::clipped_cross_entropy}) {
      const auto [gradient, tight] = measure_head(head, activations, labels, loss);
      EXPECT_LE(gradient, tight * (1 + 1e-12));
      if (rows == 1) {
        EXPECT_NEAR(gradient, tight, 1e-12 * tight);
      }
    }
  }
}

// (1/m) sum ||p_i - y_i|| ||a_i|| by hand: the head is 0, so that p = (1/2, 1/2) and ||p - y|| = 1/sqrt(2); the rows
// have the norms 5 and 1.
TEST(TightConstant, OfTwoRowsByHand) {
  Head head(torch::nn::LinearOptions(2, 2));
  head->to(at::kDouble);
  const at::NoGradGuard no_grad;
  head->weight.zero_();
  head->bias.zero_();
  const at::AutoGradMode grad(true);
  const HeadNorms measured = measure_head(head, torch::tensor({{3.0, 4.0}, {0.0, 1.0}}, at::kDouble),
                                          torch::tensor({0, 1}, at::kLong), TrainingLoss::cross_entropy);
  EXPECT_NEAR(measured.tight, (5 + 1) / std::sqrt(2.0) / 2, 1e-12);
  // Of the first class (-(3, 4) + (0, 1))/4 = (-3, -3)/4, of the second the opposite.
  EXPECT_NEAR(measured.gradient, std::sqrt(4 * 9.0) / 4, 1e-12);
}

TEST(StepCheck, CountsWhatItsSentencesSay) {
  NetworkOptions options;
  options.channels = 1;
  options.height = options.width = 3;
  options.classes = 3;
  const std::shared_ptr<Network> network = make_network("mlp-4", options);
  network->to(at::kDouble);
  StepCheck check(*network);
  const at::Tensor first = network->layers()[0].tensors[0].second, last = network->head()->weight;
  const PenultimateNorms norms{
      .frobenius = 6, .row_norm_sum = 6, .rows = 2};  // published 2/6 6 = 2, certified sqrt(2) 3
  const auto step = [&](double of_first, double of_last, double move, double tight) {
    for (const at::Tensor& parameter : network->parameters()) parameter.mutable_grad() = at::zeros_like(parameter);
    first.mutable_grad()[0][0] = of_first;
    last.mutable_grad()[0][0] = of_last;
    check.before_step(norms, tight);
    const at::NoGradGuard no_grad;
    first[0][0] += move;
    check.after_step();
  };
  step(1, 3, 0.5, 3);  // the last is the largest; above published, not above certified, tight met
  step(5, 1, 2, 3);    // the first is the largest, a large step
  step(1, 5, 1, 4);    // above all
  const CheckCounts counts = check.take();
  EXPECT_EQ(counts.steps, 3);
  EXPECT_EQ(counts.last_largest, 2);
  EXPECT_EQ(counts.small_updates, 2);
  EXPECT_EQ(counts.over_published, 2);
  EXPECT_EQ(counts.over_certified, 1);
  EXPECT_EQ(counts.over_tight, 1);
  EXPECT_NEAR(counts.update, 3.5 / 3, 1e-12);
  ASSERT_EQ(counts.gradients.size(), 2u);
  EXPECT_EQ(counts.gradients[0].first, "dense0");
  EXPECT_NEAR(counts.gradients[0].second, 7.0 / 3, 1e-12);
  EXPECT_EQ(counts.gradients[1].first, "head");
  EXPECT_NEAR(counts.gradients[1].second, 3, 1e-12);
  EXPECT_EQ(check.take().steps, 0);
}

}  // namespace
}  // namespace lipschitzlr::nn

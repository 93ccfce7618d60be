#include "lipschitzlr/nn/training_loss.hpp"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::nn {
namespace {

using at::Reduction::Mean;
using at::Reduction::Sum;

struct LossAndGradient {
  float loss;
  std::vector<float> gradient;
};

LossAndGradient clipped(const std::vector<std::vector<float>>& rows, const std::vector<std::int64_t>& labels,
                        at::Reduction::Reduction reduction = Mean) {
  std::vector<float> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  const at::Tensor outputs =
      torch::tensor(flat).view({static_cast<Index>(rows.size()), -1}).clone().requires_grad_(true);
  const at::Tensor loss = training_loss(TrainingLoss::clipped_cross_entropy, outputs, torch::tensor(labels), reduction);
  loss.backward();
  const at::Tensor gradient = outputs.grad().contiguous();
  return {loss.item<float>(), {gradient.data_ptr<float>(), gradient.data_ptr<float>() + gradient.numel()}};
}

// By hand: softmax(0, ln 3) = (1/4, 3/4).
TEST(ClippedCrossEntropy, BetweenItsEndsIsTheCrossEntropy) {
  const LossAndGradient result = clipped({{0, std::log(3.0f)}, {std::log(3.0f), 0}}, {0, 0});
  EXPECT_NEAR(result.loss, (1.3862944 + 0.2876821) / 2, 2e-7);
  const float expected[] = {-0.375, 0.375, -0.125, 0.125};  // (p - y)/2
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(result.gradient[i], expected[i], 1e-7);
}

// -log(1e-7f) = 16.118095..., and exp(-17) = 4.14e-8 is below 1e-7; exp(-16) = 1.125e-7 is not.
TEST(ClippedCrossEntropy, HasNoGradientAtAnImageThatIsLost) {
  const LossAndGradient lost = clipped({{0, 17}}, {0});
  EXPECT_FLOAT_EQ(lost.loss, 16.118095F);
  EXPECT_EQ(lost.gradient, (std::vector<float>{0, 0}));
  const LossAndGradient nearly = clipped({{0, 16}}, {0});
  EXPECT_NEAR(nearly.loss, 16.0000001, 2e-6);
  EXPECT_NEAR(nearly.gradient[0], -1, 1e-6);
  EXPECT_NEAR(nearly.gradient[1], 1, 1e-6);
  EXPECT_FLOAT_EQ(clipped({{0, 1e30F}}, {0}).loss, 16.118095F);  // where the plain loss is 1e30
}

// float32 has 1 - 2^-23 = 0.99999988 where 1 - 1e-7 is meant: there the least loss is 2^-23 = 1.1920929e-7, and
// probabilities of 1 - 2^-24 and 1 have no gradient.
TEST(ClippedCrossEntropy, HasALeastLossOfOneRoundingAtAnImageThatIsCertain) {
  ASSERT_EQ(static_cast<float>(1 - 1e-7), 1 - std::ldexp(1.0F, -23));
  const LossAndGradient certain = clipped({{30, 0}}, {0});
  EXPECT_FLOAT_EQ(certain.loss, 1.1920930e-7F);
  EXPECT_EQ(certain.gradient, (std::vector<float>{0, 0}));
  const LossAndGradient nearly = clipped({{14, 0}}, {0});  // p = 1 - 8.3e-7
  EXPECT_NEAR(nearly.loss, 8.3e-7, 1e-7);
  EXPECT_LT(nearly.gradient[0], 0);
}

// What Keras 2.2 writes down, one class at a time in double: p = e^z / sum; p /= sum p; clip; -sum y log p; and the
// derivative of clip, 1 within and 0 beyond, through softmax's.
LossAndGradient keras_reference(const std::vector<std::vector<float>>& rows, const std::vector<std::int64_t>& labels) {
  LossAndGradient result{0, {}};
  double loss = 0;
  const auto count = static_cast<double>(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double sum = 0, largest = rows[row][0];
    for (const float z : rows[row]) largest = std::max(largest, static_cast<double>(z));
    for (const float z : rows[row]) sum += std::exp(z - largest);
    const auto label = static_cast<std::size_t>(labels[row]);
    const double own = std::exp(rows[row][label] - largest) / sum;
    const bool within = own >= 1e-7 && own <= 1 - 1e-7;
    loss -= std::log(std::min(std::max(own, 1e-7), 1 - 1e-7)) / count;
    for (std::size_t c = 0; c < rows[row].size(); ++c) {
      const double p = std::exp(rows[row][c] - largest) / sum;
      result.gradient.push_back(static_cast<float>(within ? (p - (c == label ? 1 : 0)) / count : 0));
    }
  }
  result.loss = static_cast<float>(loss);
  return result;
}

TEST(ClippedCrossEntropy, IsKerasSlowlyWrittenDown) {
  Random random(4);
  std::vector<std::vector<float>> rows;
  std::vector<std::int64_t> labels;
  for (int row = 0; row < 400; ++row) {
    std::vector<float> scores(7);
    for (float& score : scores) score = static_cast<float>(8 * random.normal());
    rows.push_back(scores);
    labels.push_back(static_cast<std::int64_t>(random.below(7)));
  }
  const LossAndGradient ours = clipped(rows, labels), slow = keras_reference(rows, labels);
  EXPECT_NEAR(ours.loss, slow.loss, 1e-5);
  Index lost = 0;
  for (std::size_t i = 0; i < slow.gradient.size(); ++i) {
    EXPECT_NEAR(ours.gradient[i], slow.gradient[i], 1e-8);
    lost += slow.gradient[i] == 0 ? 1 : 0;
  }
  EXPECT_GT(lost, 7 * 10) << "the scores do not reach beyond the ends";
  EXPECT_NEAR(clipped(rows, labels, Sum).loss, 400 * slow.loss, 4e-3);
}

TEST(CrossEntropy, IsLibtorchs) {
  const at::Tensor outputs = torch::randn({5, 3}), targets = torch::tensor({0, 1, 2, 1, 0}, torch::kLong);
  for (const auto reduction : {Mean, Sum}) {
    EXPECT_TRUE(at::equal(training_loss(TrainingLoss::cross_entropy, outputs, targets, reduction),
                          at::cross_entropy_loss(outputs, targets, {}, reduction)));
  }
}

}  // namespace
}  // namespace lipschitzlr::nn

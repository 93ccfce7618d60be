#include "lipschitzlr/nn/lipschitz_rate.hpp"

#include <gtest/gtest.h>
#include <torch/optim.h>
#include <torch/serialize.h>

#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/nn/head.hpp"
#include "lipschitzlr/nn/optimizers.hpp"

namespace lipschitzlr::nn {
namespace {

namespace optim = torch::optim;

constexpr Index kRows = 6, kWidth = 5, kClasses = 4;

// A head alone, with its own batch in every step.
struct Loop {
  Head head{kWidth, kClasses};
  std::vector<torch::Tensor> parameters;
  torch::Tensor batch;

  explicit Loop(int seed = 3) {
    torch::manual_seed(seed);
    head->to(torch::kDouble);
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : head->parameters()) parameter.copy_(torch::randn_like(parameter));
    parameters = head->parameters();
  }
  torch::Tensor backward(int step) {
    torch::manual_seed(100 + step);
    batch = torch::randn({kRows, kWidth}, torch::kDouble) * (1 + step % 4);
    for (torch::Tensor& parameter : parameters) parameter.mutable_grad().reset();
    torch::Tensor loss = torch::cross_entropy_loss(head(batch), torch::arange(kRows) % kClasses);
    loss.backward();
    return loss;
  }
  // G as the paper has it: (k-1)/(k m) ||A||_F.
  double constant() const { return (kClasses - 1.0) / (kClasses * kRows) * batch.norm().item<double>(); }
};

double rate_in(const optim::Optimizer& optimizer) { return optimizer.param_groups()[0].options().get_lr(); }

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(LipschitzRate, IsOneOverTheConstantOfEachStepForSgd) {
  Loop loop;
  optim::SGD sgd(loop.parameters, 123);
  LipschitzRate rate(sgd, loop.head);
  for (int step = 0; step < 5; ++step) {
    loop.backward(step);
    const torch::Tensor before = loop.parameters[0].detach().clone();
    rate.step();
    EXPECT_NEAR(rate_in(sgd), 1 / loop.constant(), 1e-12);
    EXPECT_TRUE(torch::allclose(loop.parameters[0], before - loop.parameters[0].grad() / loop.constant()));
  }
  EXPECT_EQ(rate.steps(), 5u);
}

TEST(LipschitzRate, TakesRuleAndAveragesFromTheOptimizer) {
  Loop loop;
  const auto expect_rule = [&](optim::Optimizer& optimizer, const std::string& rule,
                               const rate::RuleOptions& expected) {
    const LipschitzRate rate(optimizer, loop.head);
    const rate::RuleOptions& options = rate.rule().options();
    EXPECT_EQ(rate.rule().name(), rule);
    EXPECT_EQ(options.beta, expected.beta) << rule;
    EXPECT_EQ(options.beta1, expected.beta1) << rule;
    EXPECT_EQ(options.beta2, expected.beta2) << rule;
    EXPECT_EQ(options.epsilon, expected.epsilon) << rule;
    EXPECT_EQ(options.bias_correction, expected.bias_correction) << rule;
  };
  optim::SGD plain(loop.parameters, 1), momentum(loop.parameters, optim::SGDOptions(1).momentum(0.8));
  optim::Adam adam(loop.parameters, optim::AdamOptions(1).betas({0.7, 0.9}).eps(1e-3));
  optim::AdamW adamw(loop.parameters, optim::AdamWOptions(1).betas({0.6, 0.8}).eps(1e-4));
  optim::RMSprop rmsprop(loop.parameters, optim::RMSpropOptions(1).alpha(0.95).eps(1e-5));
  expect_rule(plain, "sgd", {.beta = 0});
  expect_rule(momentum, "adamo", {.beta = 0.8});
  expect_rule(adam, "auto-adam", {.beta1 = 0.7, .beta2 = 0.9, .epsilon = 1e-3, .bias_correction = true});
  expect_rule(adamw, "auto-adam", {.beta1 = 0.6, .beta2 = 0.8, .epsilon = 1e-4, .bias_correction = true});
  expect_rule(rmsprop, "rmsprop", {.beta = 0.95, .epsilon = 1e-5});
}

// libtorch's optimizer with our rate takes the steps of our optimizer with the same rule.
void expect_same_steps(const std::function<std::unique_ptr<optim::Optimizer>(Loop&)>& theirs,
                       const std::function<std::unique_ptr<Optimizer>(Loop&)>& ours) {
  Loop left, right;
  const auto driven = theirs(left);
  LipschitzRate rate(*driven, left.head);
  const auto own = ours(right);
  for (int step = 0; step < 8; ++step) {
    left.backward(step);
    rate.step();
    right.backward(step);
    own->step();
    for (std::size_t i = 0; i < left.parameters.size(); ++i) {
      ASSERT_TRUE(torch::allclose(left.parameters[i], right.parameters[i], 1e-9, 1e-11)) << "step " << step;
    }
  }
}

TEST(LipschitzRate, MakesLibtorchsOptimizersThePapers) {
  expect_same_steps(
      [](Loop& l) { return std::make_unique<optim::SGD>(l.parameters, optim::SGDOptions(1).momentum(0.8)); },
      [](Loop& l) {
        return std::make_unique<AdaMo>(l.parameters, l.head, ControllerOptions{.rule_options = {.beta = 0.8}});
      });
  expect_same_steps(
      [](Loop& l) { return std::make_unique<optim::Adam>(l.parameters, optim::AdamOptions(1).eps(1e-7)); },
      [](Loop& l) {
        return std::make_unique<AutoAdam>(l.parameters, l.head,
                                          ControllerOptions{.rule_options = {.bias_correction = true}});
      });
  expect_same_steps(
      [](Loop& l) {
        return std::make_unique<optim::RMSprop>(l.parameters, optim::RMSpropOptions(1).alpha(0.9).eps(1e-7));
      },
      [](Loop& l) { return std::make_unique<AdaptiveRMSprop>(l.parameters, l.head); });
}

TEST(LipschitzRate, CountsEpochsByTheirStepsWithTheLargestNormOfEach) {
  Loop loop;
  optim::SGD sgd(loop.parameters, 1);
  LipschitzRate rate(sgd, loop.head, {.steps_per_epoch = 3});
  std::vector<double> constants;
  for (int step = 0; step < 9; ++step) {
    loop.backward(step);
    constants.push_back(loop.constant());
    rate.step();
    // The first epoch has its first batch's rate, each other the largest constant of the one before.
    const auto before = constants.begin() + (step / 3 - 1) * 3;
    const double expected = step < 3 ? constants[0] : *std::max_element(before, before + 3);
    EXPECT_NEAR(rate_in(sgd), 1 / expected, 1e-12) << "step " << step;
  }
}

TEST(LipschitzRate, WhatIsForgottenIsAnErrorAndNeverAWrongRate) {
  Loop loop;
  Head one(kWidth, 1);
  optim::SGD sgd(loop.parameters, 1);
  optim::Adagrad adagrad(loop.parameters);
  AdaMo ours(loop.parameters, loop.head);
  const auto made = [](optim::Optimizer& optimizer, std::shared_ptr<Tap> tap, const ControllerOptions& options = {}) {
    return [&optimizer, tap, options] { LipschitzRate(optimizer, tap, options); };
  };
  EXPECT_NE(message_of(made(adagrad, loop.head)).find("name one in options.rule"), std::string::npos);
  EXPECT_NO_THROW(made(adagrad, loop.head, {.rule = "rmsprop"})());
  EXPECT_NE(message_of(made(ours, loop.head)).find("sets its rate itself"), std::string::npos);
  EXPECT_NE(message_of(made(sgd, one)).find("binary_cross_entropy()"), std::string::npos);
  EXPECT_NO_THROW(made(sgd, one, {.loss = squared_error(2, 3)})());
  EXPECT_NE(message_of(made(sgd, std::make_shared<Tap>())).find("set loss"), std::string::npos);
  EXPECT_NE(message_of(made(sgd, nullptr)).find("head"), std::string::npos);
  EXPECT_NE(message_of(made(sgd, loop.head, {.rule_options = {.first_rate = 0.1}})).find("steps_per_epoch"),
            std::string::npos);
  EXPECT_NO_THROW(made(sgd, loop.head, {.rule_options = {.first_rate = 0.1}, .steps_per_epoch = 9})());
  EXPECT_NE(message_of([&] { ours.controller().end_epoch(); }).find("steps_per_epoch"), std::string::npos);
  message_of(made(sgd, loop.head, {.l2 = -1}));
  message_of(made(sgd, loop.head, {.steps_per_epoch = -1}));
  optim::SGD damped(loop.parameters, optim::SGDOptions(1).momentum(0.9).dampening(1));
  message_of(made(damped, loop.head));
}

TEST(LipschitzRate, AStepWithoutAForwardPassInTrainingModeIsRefused) {
  for (const std::int64_t steps_per_epoch : {0, 3}) {
    Loop loop;
    optim::SGD sgd(loop.parameters, 1);
    LipschitzRate rate(sgd, loop.head, {.steps_per_epoch = steps_per_epoch});
    message_of([&] { rate.step(); });
    loop.backward(0);
    rate.step();
    EXPECT_NE(message_of([&] { rate.step(); }).find("forward pass"), std::string::npos) << steps_per_epoch;
    loop.head->eval();
    loop.backward(1);
    EXPECT_NE(message_of([&] { rate.step(); }).find("training mode"), std::string::npos) << steps_per_epoch;
    loop.head->train();
    for (int step = 1; step < 4; ++step) {  // into the second epoch
      loop.backward(step);
      EXPECT_NO_THROW(rate.step());
    }
    message_of([&] { rate.step(); });
  }
}

TEST(LipschitzRate, RefusesASecondMasterOfTheRate) {
  Loop loop;
  optim::SGD sgd(loop.parameters, 1);
  optim::StepLR schedule(sgd, 1, 0.1);
  LipschitzRate rate(sgd, loop.head);
  loop.backward(0);
  rate.step();
  schedule.step();  // the first leaves the rate as it is
  loop.backward(1);
  rate.step();
  schedule.step();
  loop.backward(2);
  EXPECT_NE(message_of([&] { rate.step(); }).find("parameter group 0"), std::string::npos);
}

TEST(LipschitzRate, CallsAClosureFirst) {
  Loop loop, reference;
  optim::SGD sgd(loop.parameters, 1), other(reference.parameters, 1);
  LipschitzRate rate(sgd, loop.head), plain(other, reference.head);
  const torch::Tensor loss = rate.step([&] { return loop.backward(0); });
  EXPECT_TRUE(torch::equal(loss, reference.backward(0)));
  plain.step();
  EXPECT_TRUE(torch::equal(loop.parameters[0], reference.parameters[0]));
}

TEST(LipschitzRate, ContinuesFromWhatWasSavedBitForBit) {
  for (const std::int64_t steps_per_epoch : {0, 3}) {
    const ControllerOptions options{.steps_per_epoch = steps_per_epoch};
    Loop whole, begun, resumed;
    optim::Adam whole_adam(whole.parameters), begun_adam(begun.parameters), resumed_adam(resumed.parameters);
    LipschitzRate whole_rate(whole_adam, whole.head, options), begun_rate(begun_adam, begun.head, options),
        resumed_rate(resumed_adam, resumed.head, options);
    const auto run = [](Loop& loop, LipschitzRate& rate, int from, int to) {
      for (int step = from; step < to; ++step) {
        loop.backward(step);
        rate.step();
      }
    };
    run(whole, whole_rate, 0, 9);
    run(begun, begun_rate, 0, 4);
    std::stringstream archive;
    torch::save(begun_adam, archive);
    torch::load(resumed_adam, archive);
    resumed_rate.load(begun_rate.save());
    for (std::size_t i = 0; i < begun.parameters.size(); ++i) {
      const torch::NoGradGuard no_grad;
      resumed.parameters[i].copy_(begun.parameters[i]);
    }
    run(resumed, resumed_rate, 4, 9);
    EXPECT_TRUE(torch::equal(whole.parameters[0], resumed.parameters[0]));
    LipschitzRate other(resumed_adam, resumed.head, {.steps_per_epoch = steps_per_epoch == 0 ? 3 : 0});
    EXPECT_THROW(other.load(begun_rate.save()), Error);
  }
}

}  // namespace
}  // namespace lipschitzlr::nn

// The four rules against sequences worked out by hand; S and G are chosen so that the numbers can be followed.
#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/rate/adamo.hpp"
#include "lipschitzlr/rate/auto_adam.hpp"
#include "lipschitzlr/rate/registry.hpp"
#include "lipschitzlr/rate/rmsprop.hpp"
#include "lipschitzlr/rate/sgd.hpp"

namespace lipschitzlr::rate {
namespace {

constexpr double kClose = 1e-14;

const Measurement kFirst{.gradient_bound = 0.5, .second_moment = 0.04, .penultimate_norm = 20};
const Measurement kSecond{.gradient_bound = 1, .second_moment = 0.09, .penultimate_norm = 40};

TEST(Sgd, TheRateIsOneOverTheLatestConstant) {
  Sgd rule;
  rule.observe({.gradient_bound = 4});
  EXPECT_DOUBLE_EQ(rule.rate(), 0.25);
  rule.observe({.gradient_bound = 0.5});
  EXPECT_DOUBLE_EQ(rule.rate(), 2);
}

TEST(Sgd, FixedKeepsTheFirstConstant) {
  Sgd rule({.fixed = true});
  rule.observe({.gradient_bound = 4});
  rule.observe({.gradient_bound = 0.5});
  EXPECT_DOUBLE_EQ(rule.rate(), 0.25);
  EXPECT_EQ(rule.observations(), 1u);
}

TEST(Sgd, TheFirstEpochMayHaveARateOfItsOwn) {
  Sgd rule({.first_rate = 1e-3});
  EXPECT_DOUBLE_EQ(rule.rate(), 1e-3);
  rule.observe({.gradient_bound = 4});
  EXPECT_DOUBLE_EQ(rule.rate(), 0.25);
}

TEST(AdaMo, TheFirstEpochsRateIsXAndTheAverageStartsThere) {
  AdaMo rule({.first_rate = 0.5});
  EXPECT_DOUBLE_EQ(rule.rate(), 0.5);  // x, not 1/x
  rule.observe({.gradient_bound = 2});
  EXPECT_NEAR(rule.rate(), 1.5384615384615385, kClose);  // K = 0.9 * 0.5 + 0.1 * 2 = 0.65
  rule.observe({.gradient_bound = 4});
  EXPECT_NEAR(rule.rate(), 1.015228426395939, kClose);  // K = 0.9 * 0.65 + 0.1 * 4 = 0.985
}

TEST(AdaMo, FollowsTheAuthorsOwnCurve) {
  // The authors' log of AdaMo on MNIST: rates 0.1, 1.42734, 0.80571. K = 0.70060 after the first epoch and 1.24115
  // after the second, so G was (0.70060 - 0.09) / 0.1 = 6.106 and (1.24115 - 0.63054) / 0.1 = 6.106: the same network,
  // hardly changed, which an average that starts at x and not at 1/x explains.
  AdaMo rule({.first_rate = 0.1});
  EXPECT_DOUBLE_EQ(rule.rate(), 0.1);
  rule.observe({.gradient_bound = 6.106});
  EXPECT_NEAR(rule.rate(), 1.42734, 1e-4);
  rule.observe({.gradient_bound = 6.106});
  EXPECT_NEAR(rule.rate(), 0.80571, 1e-4);
}

TEST(AdaMo, WithoutAFirstRateTheAverageStartsAtZero) {
  AdaMo rule;
  rule.observe({.gradient_bound = 2});
  EXPECT_NEAR(rule.rate(), 5, kClose);  // K = 0.2
  rule.observe({.gradient_bound = 4});
  EXPECT_NEAR(rule.rate(), 1.7241379310344827, kClose);  // K = 0.18 + 0.4
}

TEST(AdaMo, BiasCorrectionDividesTheAverage) {
  AdaMo rule({.bias_correction = true});
  rule.observe({.gradient_bound = 2});
  EXPECT_NEAR(rule.rate(), 0.5, kClose);  // 0.2 / 0.1 = 2
  rule.observe({.gradient_bound = 4});
  EXPECT_NEAR(rule.rate(), 0.3275862068965517, kClose);  // 0.58 / 0.19
  AdaMo started({.bias_correction = true, .first_rate = 0.5});
  EXPECT_DOUBLE_EQ(started.rate(), 0.5);
  started.observe({.gradient_bound = 2});
  EXPECT_NEAR(started.rate(), 0.15384615384615385, kClose);  // 0.65 / 0.1
}

TEST(AdaMo, FedPerIterationTheFirstRateHoldsUntilTheEpochEnds) {
  AdaMo rule({.update = Update::per_iteration, .first_rate = 0.5});
  rule.observe({.gradient_bound = 2});
  EXPECT_TRUE(rule.holds_first_rate());
  EXPECT_DOUBLE_EQ(rule.rate(), 0.5);
  rule.observe({.gradient_bound = 4});
  rule.end_epoch();
  EXPECT_NEAR(rule.rate(), 1.015228426395939, kClose);
}

TEST(RmsProp, HandComputed) {
  RmsProp rule({.epsilon = 0});
  rule.observe(kFirst);
  EXPECT_NEAR(rule.rate(), 0.12649110640673517, kClose);  // sqrt(0.004) / 0.5
  rule.observe(kSecond);
  EXPECT_NEAR(rule.rate(), 0.11224972160321823, kClose);  // sqrt(0.0036 + 0.009) / 1
}

TEST(RmsProp, EpsilonIsAddedToTheRoot) {
  RmsProp rule({.epsilon = 0.001});
  rule.observe(kFirst);
  EXPECT_NEAR(rule.rate(), 0.12849110640673517, kClose);
}

TEST(RmsProp, AsCodedDividesByThePenultimateNormAlone) {
  RmsProp rule({.epsilon = 0, .coded_denominator = true});
  rule.observe({.second_moment = 0.04, .penultimate_norm = 20});  // G is not looked at
  EXPECT_NEAR(rule.rate(), 0.0031622776601683794, kClose);
}

TEST(RmsProp, BiasCorrectionAndFirstRate) {
  RmsProp rule({.epsilon = 0, .bias_correction = true, .first_rate = 1e-3});
  EXPECT_DOUBLE_EQ(rule.rate(), 1e-3);
  rule.observe(kFirst);
  EXPECT_NEAR(rule.rate(), 0.4, kClose);  // sqrt(0.004 / 0.1) / 0.5: the first rate does not enter the average
  rule.observe(kSecond);
  EXPECT_NEAR(rule.rate(), 0.2575185225836856, kClose);  // sqrt(0.0126 / 0.19)
}

TEST(AutoAdam, HandComputed) {
  AutoAdam rule({.epsilon = 0});
  rule.observe(kFirst);
  EXPECT_NEAR(rule.rate(), 0.12649110640673517, kClose);  // K1 = 0.05, K2 = 0.00004
  rule.observe(kSecond);
  EXPECT_NEAR(rule.rate(), 0.07862068965517242, kClose);  // K1 = 0.145, K2 = 0.00012996 = 0.0114^2
}

TEST(AutoAdam, BiasCorrectionDividesEachAverageByItsOwn) {
  AutoAdam rule({.epsilon = 0, .bias_correction = true});
  rule.observe(kFirst);
  EXPECT_NEAR(rule.rate(), 0.4, 1e-12);  // K1 = 0.5, K2 = 0.04
  rule.observe(kSecond);
  EXPECT_NEAR(rule.rate(), 0.3341058292638062, 1e-12);  // K1 = 0.145 / 0.19, K2 = 0.00012996 / 0.001999
}

TEST(AutoAdam, GivenAveragesAreAStart) {
  AutoAdam rule({.epsilon = 0, .initial_k1 = 1, .initial_k2 = 1e-6});
  EXPECT_NEAR(rule.rate(), 1e-3, kClose);
  rule.observe(kFirst);
  EXPECT_NEAR(rule.rate(), 0.006740048579027115, kClose);  // K1 = 0.95, K2 = 0.000000999 + 0.00004
}

TEST(AutoAdam, HeldAveragesNeverMove) {
  AutoAdam rule({.epsilon = 0, .initial_k1 = 1, .initial_k2 = 1e-6, .hold_averages = true});
  rule.observe(kFirst);
  rule.observe(kSecond);
  EXPECT_NEAR(rule.rate(), 1e-3, kClose);
}

TEST(AutoAdam, OneGivenAverageIsNotYetARate) {
  AutoAdam rule({.initial_k1 = 1});
  EXPECT_FALSE(rule.has_rate());
  EXPECT_THROW(rule.rate(), Error);
}

TEST(Rules, AFixedRuleOfTheGradientAloneTakesItsOneObservationAsItIs) {
  for (bool bias_correction : {false, true}) {
    for (const std::string name : {"sgd", "adamo"}) {
      const auto rule = make_rule(name, {.bias_correction = bias_correction, .fixed = true});
      rule->observe({.gradient_bound = 4});
      rule->observe({.gradient_bound = 9});
      EXPECT_DOUBLE_EQ(rule->rate(), 0.25) << name;
    }
  }
}

TEST(Rules, AFixedRuleWithAveragesKeepsTheRateOfTheirFirstUpdate) {
  const Measurement first{.gradient_bound = 4, .second_moment = 16, .penultimate_norm = 1};
  const Measurement second{.gradient_bound = 9, .second_moment = 1, .penultimate_norm = 5};
  const auto rate_of = [&](const std::string& name, bool bias_correction) {
    const auto rule = make_rule(name, {.epsilon = 0, .bias_correction = bias_correction, .fixed = true});
    rule->observe(first);
    rule->observe(second);
    const auto again = make_rule(name, {});
    again->load(rule->save());
    EXPECT_EQ(again->rate(), rule->rate());
    return rule->rate();
  };
  EXPECT_NEAR(rate_of("auto-adam", false), 0.31622776601683794, kClose);  // sqrt(0.001 * 16) / (0.1 * 4)
  EXPECT_NEAR(rate_of("rmsprop", false), 0.31622776601683794, kClose);    // sqrt(0.1 * 16) / 4
  EXPECT_NEAR(rate_of("auto-adam", true), 1, kClose);                     // sqrt(S)/G
  EXPECT_NEAR(rate_of("rmsprop", true), 1, kClose);
}

// The authors' log of ResNet20 with Auto-Adam and a fixed constant: K1 = 0.3825 and K2 = 3.2e-4 give 0.0469, so that
// they measured G = 3.825 and S = 0.32.
TEST(AutoAdam, AFixedRateIsTheOneOfTheAuthorsLog) {
  AutoAdam rule({.fixed = true});
  rule.observe({.gradient_bound = 3.825, .second_moment = 0.32});
  EXPECT_NEAR(rule.rate(), 0.0469, 0.0002);
}

}  // namespace
}  // namespace lipschitzlr::rate

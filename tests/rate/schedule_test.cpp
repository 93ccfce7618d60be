#include "lipschitzlr/rate/schedule.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

TEST(Schedule, ConstantIsOneWhateverTheStep) {
  for (const std::uint64_t step : {0, 1, 99, 100, 1000}) EXPECT_EQ(schedule_factor(Schedule::constant, step, 100), 1);
}

TEST(Schedule, CosineGoesFromOneToZeroByHandComputedNumbers) {
  EXPECT_EQ(schedule_factor(Schedule::cosine, 0, 12), 1);
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 2, 12), 0.9330127018922193, 1e-15);  // (1 + sqrt(3)/2) / 2
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 4, 12), 0.75, 1e-15);
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 6, 12), 0.5, 1e-15);
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 8, 12), 0.25, 1e-15);
  EXPECT_GT(schedule_factor(Schedule::cosine, 11, 12), 0);
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 12, 12), 0, 1e-15);
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 20, 12), 0, 1e-15);
}

TEST(Schedule, StepDividesByTenAtHalfAndAtThreeQuarters) {
  const double expected[] = {1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0.01};
  for (std::uint64_t step = 0; step < 9; ++step) EXPECT_EQ(schedule_factor(Schedule::step, step, 8), expected[step]);
  // With a number of steps that has no half: 7 steps, from step 4 of 0, 1, ... on.
  EXPECT_EQ(schedule_factor(Schedule::step, 3, 7), 1);
  EXPECT_EQ(schedule_factor(Schedule::step, 4, 7), 0.1);
}

TEST(Schedule, LinearFallsByTheSameAmountInEveryStep) {
  const double expected[] = {1, 0.75, 0.5, 0.25, 0, 0};
  for (std::uint64_t step = 0; step < 6; ++step) EXPECT_EQ(schedule_factor(Schedule::linear, step, 4), expected[step]);
}

TEST(Schedule, AWarmUpRisesAndTheScheduleTakesTheOtherSteps) {
  const double expected[] = {0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0, 0};
  for (std::uint64_t step = 0; step < 9; ++step) {
    EXPECT_EQ(schedule_factor(Schedule::linear, step, 7, 3), expected[step]) << step;
    EXPECT_EQ(schedule_factor(Schedule::constant, step, 7, 3), step < 3 ? expected[step] : 1) << step;
  }
  EXPECT_NEAR(schedule_factor(Schedule::cosine, 3 + 4, 3 + 12, 3), 0.75, 1e-15);
  EXPECT_EQ(schedule_factor(Schedule::cosine, 5, 2, 9), 0.6) << "a warm-up beyond the end";
}

TEST(Schedule, NamesReadBackAndOthersAreRefused) {
  ASSERT_EQ(schedule_names(), (std::vector<std::string>{"constant", "cosine", "linear", "step"}));
  for (const std::string& name : schedule_names()) EXPECT_EQ(to_string(schedule_from(name)), name);
  EXPECT_THROW(schedule_from("stairs"), Error);
}

}  // namespace
}  // namespace lipschitzlr::rate

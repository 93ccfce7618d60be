#include "lipschitzlr/rate/second_moment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

TEST(SecondMoment, HandComputed) {
  // c K_z = 0.5 * 8 = 4, lambda ||w|| = 0.1 * 30 = 3.
  const auto estimate = [](SecondMoment kind) { return second_moment(kind, 0.5, 8, 20, 0.1, 30); };
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::elementwise), 49);
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::full_square), 49);
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::without_weight_square), 40);
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::coded), 29);  // 0.25 * 20 + 2 * 3 * 4
}

TEST(SecondMoment, NamesGoThereAndBack) {
  for (const std::string& name : second_moment_names()) EXPECT_EQ(to_string(second_moment_from(name)), name);
  EXPECT_EQ(second_moment_names().size(), 4u);
  EXPECT_THROW(second_moment_from("square"), Error);
}

TEST(SecondMoment, NumbersThatMakeNoSenseAreRefused) {
  EXPECT_THROW(second_moment(SecondMoment::coded, 0.5, 8, std::nan(""), 0.1, 30), Error);
  EXPECT_DOUBLE_EQ(second_moment(SecondMoment::full_square, 0.5, 8, std::nan(""), 0, 30), 16);  // not used there
  EXPECT_THROW(second_moment(SecondMoment::full_square, 0.5, -8, 1, 0.1, 30), Error);
  EXPECT_THROW(second_moment(SecondMoment::full_square, 0.5, 8, 1, 0.1, INFINITY), Error);
}

}  // namespace
}  // namespace lipschitzlr::rate

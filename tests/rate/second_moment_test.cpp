#include "lipschitzlr/rate/second_moment.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::rate {
namespace {

TEST(SecondMoment, HandComputed) {
  // c K_z = 0.5 * 8 = 4, lambda ||w|| = 0.1 * 30 = 3.
  const auto estimate = [](SecondMoment kind) {
    return second_moment(kind, 0.5, {.frobenius = 8, .square_frobenius = 20}, 0.1, 30);
  };
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::full_square), 49);
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::without_weight_square), 40);
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::coded), 29);              // 0.25 * 20 + 2 * 3 * 4
  EXPECT_DOUBLE_EQ(estimate(SecondMoment::coded_full_square), 38);  // and 9
}

// The matrix ((1, -2), (0, 3)) with c = 1/2 and lambda ||w|| = 1: c A + 1 = ((1.5, 0), (1, 2.5)), whose squares
// (2.25, 0, 1, 6.25) have the norm sqrt(5.0625 + 1 + 39.0625).
TEST(SecondMoment, ElementwiseAddsTheWeightToEveryEntryBeforeItIsSquared) {
  const ActivationNorms norms{
      .frobenius = std::sqrt(14.0), .square_frobenius = std::sqrt(98.0), .sum = 2, .cube_sum = 20, .count = 4};
  EXPECT_NEAR(second_moment(SecondMoment::elementwise, 0.5, norms, 0.1, 10), std::sqrt(45.125), 1e-12);
}

TEST(SecondMoment, ElementwiseIsWhatALoopOverTheEntriesGives) {
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const double c = random.uniform(), lambda = random.uniform(), weight = 10 * random.uniform();
    double squares = 0, fourths = 0, slow = 0;
    ActivationNorms norms;
    for (int i = 0; i < 60; ++i) {
      const double a = random.normal();
      squares += a * a;
      fourths += a * a * a * a;
      norms.sum += a;
      norms.cube_sum += a * a * a;
      ++norms.count;
      slow += std::pow(c * a + lambda * weight, 4);
    }
    norms.frobenius = std::sqrt(squares);
    norms.square_frobenius = std::sqrt(fourths);
    EXPECT_NEAR(second_moment(SecondMoment::elementwise, c, norms, lambda, weight), std::sqrt(slow),
                1e-12 * (1 + std::sqrt(slow)));
  }
}

TEST(SecondMoment, NamesGoThereAndBack) {
  for (const std::string& name : second_moment_names()) EXPECT_EQ(to_string(second_moment_from(name)), name);
  EXPECT_EQ(second_moment_names().size(), 5u);
  EXPECT_THROW(second_moment_from("square"), Error);
}

TEST(SecondMoment, NumbersThatMakeNoSenseAreRefused) {
  const double nan = std::nan("");
  EXPECT_THROW(second_moment(SecondMoment::coded, 0.5, {8, nan}, 0.1, 30), Error);
  EXPECT_THROW(second_moment(SecondMoment::elementwise, 0.5, {8, 20, nan, 1, 4}, 0.1, 30), Error);
  EXPECT_DOUBLE_EQ(second_moment(SecondMoment::full_square, 0.5, {8, nan}, 0, 30), 16);  // not used there
  EXPECT_THROW(second_moment(SecondMoment::full_square, 0.5, {-8, 1}, 0.1, 30), Error);
  EXPECT_THROW(second_moment(SecondMoment::full_square, 0.5, {8, 1}, 0.1, INFINITY), Error);
}

}  // namespace
}  // namespace lipschitzlr::rate

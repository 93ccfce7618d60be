#include "lipschitzlr/rate/guard.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

TEST(StartGuard, IsSilentOnAnOrdinaryStart) {
  StartGuard guard({.expected_penultimate_norm = expected_penultimate_norm(128, 64), .expected_weight_norm = 10});
  EXPECT_EQ(guard.observe(1, 100, 12), "");
  EXPECT_EQ(guard.observe(2, 60, 14), "");
  EXPECT_EQ(guard.observe(3, 50, 15), "");
}

TEST(StartGuard, WarnsOfNumbersFarAboveTheExpectedOnes) {
  EXPECT_NEAR(expected_penultimate_norm(128, 64), 90.5096679918781, 1e-12);
  StartGuard guard({.expected_penultimate_norm = 90, .expected_weight_norm = 10});
  EXPECT_EQ(guard.observe(1, 901, 12),
            "K_z is 901 in epoch 1, about 90 was expected: the computed rate may mean nothing yet, consider a "
            "first-epoch rate (such as 0.001)");
  EXPECT_EQ(guard.observe(2, 1000, 101),
            "K_z is 1000 in epoch 2, about 90 was expected; max ||w|| is 101 in epoch 2, about 10 was expected: the "
            "computed rate may mean nothing yet, consider a first-epoch rate (such as 0.001)");
}

TEST(StartGuard, WithNothingToExpectLaterEpochsTell) {
  StartGuard grown, fallen;
  EXPECT_EQ(grown.observe(1, 5, 3), "");
  EXPECT_NE(grown.observe(2, 51, 3).find("K_z grew from 5 to 51"), std::string::npos);
  EXPECT_EQ(fallen.observe(1, 500, 3), "");
  EXPECT_EQ(fallen.observe(2, 400, 3), "");
  EXPECT_NE(fallen.observe(3, 40, 3).find("K_z fell from 500"), std::string::npos);
}

TEST(StartGuard, OnlyTheStartIsWatched) {
  StartGuard guard({.expected_penultimate_norm = 1});
  EXPECT_EQ(guard.observe(4, 1e6, 1e6), "");
  EXPECT_EQ(guard.observe(30, 1, 1), "");
}

TEST(StartGuard, AFactorThatMakesNoSenseIsRefused) {
  EXPECT_THROW(StartGuard({.factor = 1}), Error);
  EXPECT_THROW(StartGuard({.factor = std::nan("")}), Error);
}

}  // namespace
}  // namespace lipschitzlr::rate

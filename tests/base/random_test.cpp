#include "lipschitzlr/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

TEST(Random, TheSeedFixesTheNumbersEverywhere) {
  // mt19937_64 is fixed by the C++ standard: its 10000th number for the default seed 5489.
  Random random(5489);
  for (int i = 1; i < 10000; ++i) random.bits();
  EXPECT_EQ(random.bits(), 9981545732273789042ULL);
}

TEST(Random, NormalHasTheMomentsOfN01) {
  Random random(1);
  const int count = 200000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.015);
}

TEST(Random, BelowStaysBelowAndIsEven) {
  Random random(2);
  std::vector<int> counts(3);
  for (int i = 0; i < 30000; ++i) ++counts.at(random.below(3));
  for (int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Random, ShuffleIsAPermutation) {
  Random random(3);
  std::vector<int> items(100), sorted(100);
  std::iota(items.begin(), items.end(), 0);
  sorted = items;
  random.shuffle(std::span(items));
  EXPECT_NE(items, sorted);
  std::sort(items.begin(), items.end());
  EXPECT_EQ(items, sorted);
}

TEST(Random, ASavedStateContinuesAndADamagedOneIsRefused) {
  Random random(4);
  random.normal();
  const std::string state = random.save();
  Random other(0);
  other.load(state);
  EXPECT_EQ(other.bits(), random.bits());
  EXPECT_THROW(other.load("12 abc"), Error);
}

}  // namespace
}  // namespace lipschitzlr

#include "base/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace lipschitzlr {
namespace {

TEST(Numbers, TakeAllOfTheText) {
  EXPECT_EQ(number_from("0.1"), 0.1);
  EXPECT_EQ(number_from("-2e3"), -2000.0);
  for (const char* text : {"", " 1", "1 ", "1x", "x", "1e", "inf", "nan", "1e999", "0x10"}) {
    EXPECT_FALSE(number_from(text)) << text;
  }
}

TEST(Numbers, MustFitTheirType) {
  EXPECT_EQ(number_from<int>("-7"), -7);
  EXPECT_FALSE(number_from<int>("1.5"));
  EXPECT_FALSE(number_from<std::uint8_t>("256"));
  EXPECT_EQ(number_from<std::int64_t>("9223372036854775807"), INT64_MAX);
}

}  // namespace
}  // namespace lipschitzlr

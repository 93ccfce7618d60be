#include "data/table/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace lipschitzlr::data {
namespace {

// strtod of the C library, in the C locale of a test program, is correctly rounded: the bits must agree.
void expect_as_strtod(const std::string& text) {
  char* end = nullptr;
  const double expected = std::strtod(text.c_str(), &end);
  const Number number = read_number(text.c_str());
  ASSERT_EQ(number.end, end) << text;
  ASSERT_EQ(std::bit_cast<std::uint64_t>(number.value), std::bit_cast<std::uint64_t>(expected)) << text;
  for (const char* behind : {",1234567", "\n.......", "\xC3\xBF//::ee", "       0"}) {
    const std::string padded = text + behind;
    const Number fast = read_padded_number(padded.c_str());
    ASSERT_EQ(fast.end - padded.c_str(), end - text.c_str()) << padded;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(fast.value), std::bit_cast<std::uint64_t>(expected)) << padded;
  }
}

std::string print(const char* format, double value) {
  char text[512];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

TEST(Number, RandomBitsInEveryNotationAgreeWithStrtod) {
  std::mt19937_64 bits(1);
  for (int i = 0; i < 10000; ++i) {
    const double value = std::bit_cast<double>(bits());
    if (!std::isfinite(value)) continue;
    for (const char* format : {"%.17g", "%g", "%e", "%.3e", "%.25e", "%.15g", "%+.10G"}) {
      expect_as_strtod(print(format, value));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Number, EverydayNumbersAgreeWithStrtod) {
  std::mt19937_64 bits(2);
  std::normal_distribution<double> normal(0, 1000);
  for (int i = 0; i < 10000; ++i) {
    const double value = normal(bits);
    for (const char* format : {"%.17g", "%.6g", "%f", "%.0f", "%.1f", "%.12f", "%.30f"}) {
      expect_as_strtod(print(format, value));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Number, RandomDigitsAgreeWithStrtod) {
  std::mt19937_64 bits(3);
  for (int i = 0; i < 50000; ++i) {
    std::string text = bits() % 2 ? "-" : "";
    for (std::uint64_t n = 1 + bits() % 25; n > 0; --n) text += static_cast<char>('0' + bits() % 10);
    text.insert(text.size() - bits() % (text.size() - (text[0] == '-') + 1), 1, '.');
    if (bits() % 2) text.append(1, 'e').append(std::to_string(static_cast<int>(bits() % 700) - 350));
    expect_as_strtod(text);
    if (HasFatalFailure()) return;
  }
}

TEST(Number, EdgesAgreeWithStrtod) {
  for (const char* text : {"0",
                           "-0",
                           "+1",
                           "1.",
                           ".5",
                           "-.5e-3",
                           "9007199254740992",
                           "9007199254740993",
                           "9007199254740993e22",
                           "1e22",
                           "1e23",
                           "1e-22",
                           "1e-23",
                           "18446744073709551615",
                           "18446744073709551616",
                           "99999999999999999999999",
                           "0e999999999999",
                           "0.0000000000000000000000000000001",
                           "2.2250738585072011e-308",
                           "4.9406564584124654e-324",
                           "2.4e-324",
                           "2.5e-324",
                           "1e-400",
                           "-1e-400",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "1e309",
                           "-1e400",
                           "1e99999999999999999999",
                           "1e-99999999999999999999",
                           "123456789012345678901234567890e-350",
                           "00000000000000000000000000000000000012"}) {
    expect_as_strtod(text);
  }
  expect_as_strtod("0." + std::string(400, '0') + "1");
  expect_as_strtod("0." + std::string(400, '0') + "1e401");
  expect_as_strtod("1" + std::string(400, '0'));
  expect_as_strtod("1" + std::string(400, '0') + "e-400");
}

TEST(Number, StopsWhereTheNumberStops) {
  const auto length = [](const char* text) { return read_number(text).end - text; };
  EXPECT_EQ(length("1,2"), 1);
  EXPECT_EQ(length("1.5e"), 3);
  EXPECT_EQ(length("1.5e+x"), 3);
  EXPECT_EQ(length("1e5e"), 3);
  EXPECT_EQ(length("1.2.3"), 3);
  EXPECT_EQ(length("0x10"), 1);
}

TEST(Number, EveryCharacterThatIsNoDigitEndsTheDigits) {
  for (int code = 1; code < 256; ++code) {
    const auto c = static_cast<char>(code);
    if ((c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E') continue;
    for (std::size_t count = 1; count < 18; ++count) {
      const std::string text = std::string(count, '7') + c + std::string(8, c);
      EXPECT_EQ(read_padded_number(text.c_str()).end - text.c_str(), count) << code;
    }
  }
}

TEST(Number, WordsAreNoNumbers) {
  for (const char* text : {"", "-", "+", ".", "-.", "e5", ".e5", "nan", "inf", " 1", "--1", "+-1", "x"}) {
    EXPECT_EQ(read_number(text).end, nullptr) << text;
  }
  EXPECT_TRUE(is_non_finite_word("-Inf"));
  EXPECT_TRUE(is_non_finite_word("NaN"));
  EXPECT_FALSE(is_non_finite_word("info"));
  EXPECT_TRUE(is_missing_word("N/A"));
  EXPECT_FALSE(is_missing_word("no"));
}

}  // namespace
}  // namespace lipschitzlr::data

#pragma once
// Decimal numbers read from text, correctly rounded (the same bits as strtod), without a locale.
// Up to 19 digits m and a power of ten e, with m < 2^53 and |e| <= 22, need one exact operation: m * 10^e or m / 10^-e
// (Clinger 1990); the rest goes to std::from_chars.

#include <cstdint>
#include <string_view>

namespace lipschitzlr::data {

struct Number {
  const char* end;  // one past its last character; null when no number stands there
  double value;     // infinite when it is beyond the largest double; never NaN
};

// The number that starts at text: [+-] digits [. digits] [e [+-] digits], at least one digit before or after the point.
// Needs a character that is part of no number (a newline, NUL) somewhere behind it: there is no other check for the
// end.
Number read_number(const char* text);

// Whether the word is one of the spellings of infinity or not-a-number that other programs write.
bool is_non_finite_word(std::string_view word);

// Whether the word stands for a missing value in other programs: NA, n/a, null, none, nan, ?, ...
bool is_missing_word(std::string_view word);

namespace detail {

Number read_number_slowly(const char* text, const char* end);

inline constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr int kLargestExactPower = 22;
inline constexpr std::uint64_t kLargestExactWhole = std::uint64_t{1} << 53;
inline constexpr int kMostDigits = 19;  // of any 19 digits, the value fits 64 bits

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline const char* read_digits(const char* text, std::uint64_t& value) {
  for (; is_digit(*text); ++text) value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  return text;
}

// The exponent at "e...", added to exponent; text itself when no digit follows, for then the e is no part of the
// number.
inline const char* read_exponent(const char* text, std::int64_t& exponent) {
  const char* digits = text + 1;
  const bool negative = *digits == '-';
  if (negative || *digits == '+') ++digits;
  if (!is_digit(*digits)) return text;
  std::int64_t power = 0;
  for (; is_digit(*digits); ++digits) {
    if (power < 100'000'000) power = power * 10 + (*digits - '0');
  }
  exponent += negative ? -power : power;
  return digits;
}

}  // namespace detail

inline Number read_number(const char* text) {
  const bool negative = *text == '-';
  const char* p = text + (negative || *text == '+');
  std::uint64_t whole = 0;  // of more than 19 digits it wraps, and is then not used
  std::int64_t exponent = 0;
  const char* digits = p;
  p = detail::read_digits(p, whole);
  std::int64_t count = p - digits;
  if (*p == '.') {
    const char* fraction = ++p;
    p = detail::read_digits(p, whole);
    exponent = fraction - p;
    count -= exponent;
  }
  if (count == 0) return {nullptr, 0};
  if (*p == 'e' || *p == 'E') p = detail::read_exponent(p, exponent);
  if (count > detail::kMostDigits || whole > detail::kLargestExactWhole || exponent > detail::kLargestExactPower ||
      exponent < -detail::kLargestExactPower) {
    return detail::read_number_slowly(text, p);
  }
  double value = static_cast<double>(whole);
  if (exponent < 0) {
    value /= detail::kPowersOfTen[-exponent];
  } else {
    value *= detail::kPowersOfTen[exponent];
  }
  return {p, negative ? -value : value};
}

}  // namespace lipschitzlr::data

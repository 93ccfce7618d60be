#pragma once
// Decimal numbers read from text, correctly rounded (the same bits as strtod), without a locale.
// Up to 19 digits m and a power of ten e, with m < 2^53 and |e| <= 22, need one exact operation: m * 10^e or m / 10^-e
// (Clinger 1990); the rest goes to std::from_chars.

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace lipschitzlr::data {

struct Number {
  const char* end;  // one past its last character; null when there is no number
  double value;     // infinite when it is beyond the largest double; never NaN
};

// The number that starts at text: [+-] digits [. digits] [e [+-] digits], at least one digit before or after the point.
// Needs a character that is part of no number (a newline, NUL) somewhere behind it: there is no other check for the
// end.
Number read_number(const char* text);

// The same for text with 8 more readable bytes behind the number: faster, for it takes 8 digits at once.
inline constexpr int kNumberPadding = 8;
Number read_padded_number(const char* text);

// The number that all of a text is, if it is one; infinite when it is beyond the largest double. Needs a character
// behind the text that is part of no number. With decimal_comma a comma is as good as a point.
std::optional<double> number_of_all(std::string_view text, bool decimal_comma = false);

// Whether the word is infinity; is_non_finite_word has not-a-number, too.
bool is_infinity_word(std::string_view word);

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

// Both read digits behind those that made value so far, and return where they end.
struct OneDigitAtATime {
  static const char* read(const char* text, std::uint64_t& value) {
    for (; is_digit(*text); ++text) value = value * 10 + static_cast<std::uint64_t>(*text - '0');
    return text;
  }
};

// Eight characters are one 64-bit word, the first one its lowest byte. How many of them are digits is found without a
// branch, because the lengths of numbers in a table are hard to predict.
struct EightDigitsAtOnce {
  static const char* read(const char* text, std::uint64_t& value) {
    if constexpr (std::endian::native != std::endian::little) return OneDigitAtATime::read(text, value);
    constexpr std::uint64_t kEveryByte = 0x0101010101010101;
    constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    int count = kNumberPadding;
    while (count == kNumberPadding) {
      std::uint64_t word;
      std::memcpy(&word, text, sizeof word);
      const std::uint64_t digits = word - kEveryByte * '0';
      // The high bit of a byte below '0' is set by the difference, of one above '9' by the sum.
      const std::uint64_t others = (digits | (word + kEveryByte * (0x7F - '9'))) & (kEveryByte * 0x80);
      count = std::countr_zero(others) / 8;
      if (count == 0) break;
      value = value * kPowers[count] + join(digits << (64 - 8 * count));
      text += count;
    }
    return text;
  }

  // The number that eight bytes of 0 to 9 stand for: neighbours are joined to pairs, then all four pairs at once.
  static std::uint64_t join(std::uint64_t digits) {
    constexpr std::uint64_t kFirstAndThird = 0x000000FF000000FF;
    const std::uint64_t pairs = digits * 10 + (digits >> 8);
    const std::uint64_t first_and_third = (pairs & kFirstAndThird) * (100 + (std::uint64_t{1000000} << 32));
    const std::uint64_t second_and_fourth = ((pairs >> 16) & kFirstAndThird) * (1 + (std::uint64_t{10000} << 32));
    return (first_and_third + second_and_fourth) >> 32;
  }
};

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

template <class Digits>
Number read_number_by(const char* text) {
  const bool negative = *text == '-';
  const char* p = text + (negative || *text == '+');
  std::uint64_t whole = 0;  // of more than 19 digits it wraps, and is then not used
  std::int64_t exponent = 0;
  const char* digits = p;
  p = Digits::read(p, whole);
  std::int64_t count = p - digits;
  if (*p == '.') {
    const char* fraction = ++p;
    p = Digits::read(p, whole);
    exponent = fraction - p;
    count -= exponent;
  }
  if (count == 0) return {nullptr, 0};
  if (*p == 'e' || *p == 'E') p = read_exponent(p, exponent);
  if (count > kMostDigits || whole > kLargestExactWhole || exponent > kLargestExactPower ||
      exponent < -kLargestExactPower) {
    return read_number_slowly(text, p);
  }
  double value = static_cast<double>(whole);
  if (exponent < 0) {
    value /= kPowersOfTen[-exponent];
  } else {
    value *= kPowersOfTen[exponent];
  }
  return {p, std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (std::uint64_t{negative} << 63))};
}

}  // namespace detail

inline Number read_number(const char* text) { return detail::read_number_by<detail::OneDigitAtATime>(text); }

inline Number read_padded_number(const char* text) { return detail::read_number_by<detail::EightDigitsAtOnce>(text); }

}  // namespace lipschitzlr::data

#include "data/table/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

namespace lipschitzlr::data {
namespace {

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

template <std::size_t size>
bool is_one_of(std::string_view word, const std::array<std::string_view, size>& list) {
  return std::find(list.begin(), list.end(), lower_case(word)) != list.end();
}

// Whether a number that no double can hold is too large (rather than too close to zero): its leading digit stands for
// 10^k with k >= 0.
bool is_large(const char* digits, const char* end) {
  std::int64_t leading = 0;
  bool after_point = false;
  bool seen = false;
  const char* p = digits;
  for (; p != end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') {
      after_point = true;
    } else if (!seen && *p == '0') {
      leading -= after_point;
    } else {
      seen = true;
      leading += !after_point;
    }
  }
  if (p != end) detail::read_exponent(p, leading);
  return leading > 0;
}

}  // namespace

std::optional<double> number_of_all(std::string_view text, bool decimal_comma) {
  const std::size_t comma = decimal_comma ? text.find(',') : std::string_view::npos;
  if (comma != std::string_view::npos && text.find('.') == std::string_view::npos) {
    std::string with_point(text);
    with_point[comma] = '.';
    return number_of_all(with_point);
  }
  if (text.empty()) return std::nullopt;
  const Number number = read_number(text.data());
  return number.end == text.data() + text.size() ? std::optional(number.value) : std::nullopt;
}

bool is_infinity_word(std::string_view word) {
  return is_non_finite_word(word) && lower_case(word).find("inf") != std::string::npos;
}

bool is_non_finite_word(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"nan", "inf", "infinity", "1.#inf", "1.#qnan", "1.#ind"};
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
  return is_one_of(word, kWords);
}

bool is_missing_word(std::string_view word) {
  constexpr std::array<std::string_view, 10> kWords = {"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", "."};
  return is_one_of(word, kWords);
}

Number detail::read_number_slowly(const char* text, const char* end) {
  const bool negative = *text == '-';
  const char* digits = text + (negative || *text == '+');
  double value = 0;
  if (std::from_chars(digits, end, value).ec == std::errc::result_out_of_range) {
    value = is_large(digits, end) ? std::numeric_limits<double>::infinity() : 0;
  }
  return {end, negative ? -value : value};
}

}  // namespace lipschitzlr::data

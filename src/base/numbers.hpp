#pragma once
// Numbers in the text of an option.

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace lipschitzlr {

// The finite number that is all of the text.
inline std::optional<double> number_from(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || stop != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

// The parts between the separators: one more than there are of them.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

}  // namespace lipschitzlr

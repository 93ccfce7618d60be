#pragma once
// Numbers in the text of an option, a name or a variable. Tables have a faster reader (data/table/number.hpp).

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>

namespace lipschitzlr {

// The number that is all of the text, finite. None when there is anything else, or it does not fit the type.
template <class Number = double>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

}  // namespace lipschitzlr

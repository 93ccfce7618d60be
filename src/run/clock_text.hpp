#pragma once
// Seconds as a person reads them: 0:42, 12:05, 3:00:00.

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace lipschitzlr::run {

inline std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace lipschitzlr::run

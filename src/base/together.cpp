#include "lipschitzlr/base/together.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {

double maximum_over(Team* team, double value) {
  if (team == nullptr) return value;
  // What the maximum of something and not-a-number is depends on who is asked.
  const bool nothing = std::isnan(value);
  std::array<double, 2> values{nothing ? 1.0 : 0.0, nothing ? -std::numeric_limits<double>::infinity() : value};
  team->maximum(values);
  return values[0] > 0 ? std::numeric_limits<double>::quiet_NaN() : values[1];
}

// Zeros stand where the others' values belong, so that the sum is all of them, each to the bit.
std::vector<double> gather_over(Team* team, std::vector<double> own) {
  if (team == nullptr) return own;
  const auto rank = static_cast<std::size_t>(team->rank());
  std::vector<double> counts(static_cast<std::size_t>(team->size()));
  counts[rank] = static_cast<double>(own.size());
  team->sum(std::span(counts));
  const auto here = counts.begin() + static_cast<std::ptrdiff_t>(rank);
  const double before = std::accumulate(counts.begin(), here, 0.0);
  std::vector<double> all(static_cast<std::size_t>(std::accumulate(here, counts.end(), before)));
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(before));
  if (!all.empty()) team->sum(std::span(all));
  return all;
}

std::string broadcast_over(Team* team, std::string text) {
  if (team == nullptr) return text;
  std::size_t size = text.size();
  team->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  if (size > 0) team->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

std::string from_leader(Team* team, const std::function<std::string()>& work) {
  if (team == nullptr) return work();
  std::int32_t fault = 0;  // none
  std::string text;
  try {
    if (team->leads()) text = work();
  } catch (const Error& error) {
    fault = error.exit_code();
    text = error.what();
  }
  team->broadcast(std::as_writable_bytes(std::span(&fault, 1)));
  text = broadcast_over(team, std::move(text));
  if (fault != 0) throw Error(static_cast<Fault>(fault), text);
  return text;
}

}  // namespace lipschitzlr

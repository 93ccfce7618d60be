#include "lipschitzlr/rate/guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {

double expected_penultimate_norm(Index rows, Index width) {
  return std::sqrt(static_cast<double>(rows) * static_cast<double>(width));
}

StartGuard::StartGuard(const StartGuardOptions& options)
    : factor_(options.factor),
      penultimate_{"K_z", options.expected_penultimate_norm},
      weight_{"max ||w||", options.expected_weight_norm} {
  if (!(factor_ > 1)) {
    throw Error(Fault::usage, fmt::format("the factor of the start guard is {}; it must be above 1", factor_));
  }
}

std::string StartGuard::observe(int epoch, double penultimate_norm, double weight_norm) {
  std::string text = penultimate_.observe(epoch, penultimate_norm, factor_);
  const std::string more = weight_.observe(epoch, weight_norm, factor_);
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
  if (!text.empty()) text += ": the computed rate may mean nothing yet, consider a first-epoch rate (such as 0.001)";
  return text;
}

std::string StartGuard::Watch::observe(int epoch, double value, double factor) {
  const double before = largest;
  if (epoch <= 2) largest = std::max(largest, value);
  if (epoch <= 2 && expected > 0 && value > factor * expected) {
    return fmt::format("{} is {:.4g} in epoch {}, about {:.4g} was expected", symbol, value, epoch, expected);
  }
  if (epoch == 2 && before > 0 && value > factor * before) {
    return fmt::format("{} grew from {:.4g} to {:.4g} in the second epoch", symbol, before, value);
  }
  if (epoch == 3 && value > 0 && before > factor * value) {
    return fmt::format("{} fell from {:.4g} in the first two epochs to {:.4g}", symbol, before, value);
  }
  return {};
}

void check_constant(const std::string& rule, const std::string& symbol, double value) {
  if (std::isfinite(value) && value > 0) return;
  throw Error(Fault::training,
              fmt::format("the rule {} can't make a rate of {} = {}: it must be finite and above zero; "
                          "look for inputs or weights that vanished or exploded",
                          rule, symbol, value));
}

}  // namespace lipschitzlr::rate

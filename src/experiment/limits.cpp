#include "lipschitzlr/experiment/limits.hpp"

#include <fmt/format.h>

#include "base/numbers.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {

std::int64_t Limits::epochs_of(const Recipe& recipe) const {
  const std::int64_t own = recipe.linear ? recipe.linear->epochs.value_or(0) : recipe.network->epochs;
  return own > 0 && epochs > 0 ? epochs : own;
}

double seconds_from(const std::string& text) {
  const char unit = text.empty() ? ' ' : text.back();
  const double scale = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  const double seconds =
      scale > 0 ? scale * number_from(text.substr(0, text.size() - 1)).value_or(0) : number_from(text).value_or(0);
  if (seconds > 0) return seconds;
  throw Error(Fault::usage, fmt::format("the budget \"{}\" is not a time; write 90s, 30m or 1.5h", text));
}

}  // namespace lipschitzlr::experiment

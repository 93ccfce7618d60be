#include "lipschitzlr/bound/descent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {

double iteration_bound(double beta, double loss_gap, double epsilon) {
  const auto check = [](const char* name, double value, bool good, const char* required) {
    if (good && std::isfinite(value)) return;
    throw Error(Fault::usage, fmt::format("the iteration bound needs {} {}, but it is {}", name, required, value));
  };
  check("beta", beta, beta >= 0, "of 0 or above");
  check("the loss gap f(w0) - f*", loss_gap, loss_gap >= 0, "of 0 or above");
  check("epsilon", epsilon, epsilon > 0, "above 0");
  return std::ceil(2 * beta * loss_gap / epsilon);
}

bool descent_holds(double loss_before, double loss_after, double promised, double slack) {
  const double measured = loss_before - loss_after;
  const double rounding = slack * std::max(std::abs(loss_before), std::abs(loss_after));
  return std::isfinite(measured) && measured >= promised - rounding;
}

}  // namespace lipschitzlr::bound

#include "bound/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {

double checked_count(const std::string& symbol, Index count, Index least) {
  if (count < least) {
    throw Error(Fault::usage,
                fmt::format("a Lipschitz constant needs {} of at least {}, but it is {}", symbol, least, count));
  }
  return static_cast<double>(count);
}

void check_total(double m) {
  if (std::isfinite(m) && m > 0) return;
  throw Error(Fault::usage, fmt::format("a Lipschitz constant needs m above 0, but it is {}", m));
}

void check_norm(const std::string& symbol, double norm) {
  if (std::isfinite(norm) && norm >= 0) return;
  if (symbol == "K" && std::isnan(norm)) {
    throw Error(Fault::usage, "the constant depends on K, a bound on the norm of the weights, which was not given");
  }
  throw Error(Fault::data,
              fmt::format("{} is {}, so there is no Lipschitz constant; look for values in the data that are missing, "
                          "not finite or far too large",
                          symbol, norm));
}

void check_lambda(double lambda) {
  if (std::isfinite(lambda) && lambda >= 0) return;
  throw Error(Fault::usage, fmt::format("lambda is {}; it must be a finite number, 0 or above", lambda));
}

void add_input(Constant& constant, const std::string& symbol, double value) {
  const auto same = [&](const Input& input) { return input.symbol == symbol && input.value == value; };
  if (std::none_of(constant.inputs.begin(), constant.inputs.end(), same)) constant.inputs.push_back({symbol, value});
}

}  // namespace lipschitzlr::bound

#include "lipschitzlr/rate/second_moment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

struct Named {
  SecondMoment estimate;
  const char* name;
};

constexpr std::array<Named, 5> kEstimates{{{SecondMoment::elementwise, "elementwise"},
                                           {SecondMoment::full_square, "full-square"},
                                           {SecondMoment::without_weight_square, "without-weight-square"},
                                           {SecondMoment::coded, "coded"},
                                           {SecondMoment::coded_full_square, "coded-full-square"}}};

[[noreturn]] void no_such_estimate(const std::string& name) {
  throw Error(Fault::usage, fmt::format("there is no second-moment estimate '{}'; choose {}", name,
                                        fmt::join(second_moment_names(), ", ")));
}

void require(const char* symbol, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw Error(Fault::training,
              fmt::format("the second moment needs {} to be finite and not negative, but it is {}", symbol, value));
}

// The sum of (c a + t)^4 over the entries a, by their power sums, which are measured before t is known.
double elementwise(double c, const ActivationNorms& activations, double t) {
  const double squares = activations.frobenius * activations.frobenius,
               fourths = activations.square_frobenius * activations.square_frobenius;
  const double sum = std::pow(c, 4) * fourths + 4 * std::pow(c, 3) * t * activations.cube_sum +
                     6 * c * c * t * t * squares + 4 * c * std::pow(t, 3) * activations.sum +
                     std::pow(t, 4) * activations.count;
  if (!std::isfinite(sum)) require("the sum of fourth powers", sum);
  return std::sqrt(std::max(0.0, sum));
}

}  // namespace

std::string to_string(SecondMoment estimate) {
  for (const Named& named : kEstimates) {
    if (named.estimate == estimate) return named.name;
  }
  no_such_estimate(std::to_string(static_cast<int>(estimate)));
}

SecondMoment second_moment_from(const std::string& name) {
  for (const Named& named : kEstimates) {
    if (named.name == name) return named.estimate;
  }
  no_such_estimate(name);
}

std::vector<std::string> second_moment_names() {
  std::vector<std::string> names;
  for (const Named& named : kEstimates) names.emplace_back(named.name);
  return names;
}

double second_moment(SecondMoment estimate, double c, const ActivationNorms& activations, double lambda,
                     double weight_norm) {
  require("c", c);
  require("K_z", activations.frobenius);
  require("lambda", lambda);
  require("||w||", weight_norm);
  const double data = c * activations.frobenius;
  const double weight = lambda * weight_norm;
  switch (estimate) {
    case SecondMoment::elementwise:
      return elementwise(c, activations, weight);
    case SecondMoment::full_square:
      return data * data + weight * weight + 2 * weight * data;
    case SecondMoment::without_weight_square:
      return data * data + 2 * weight * data;
    case SecondMoment::coded:
    case SecondMoment::coded_full_square:
      require("max ||A o A||_F", activations.square_frobenius);
      return c * c * activations.square_frobenius + 2 * weight * data +
             (estimate == SecondMoment::coded ? 0 : weight * weight);
  }
  no_such_estimate(std::to_string(static_cast<int>(estimate)));
}

}  // namespace lipschitzlr::rate

#include "lipschitzlr/rate/second_moment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

struct Named {
  SecondMoment estimate;
  const char* name;
};

constexpr std::array<Named, 4> kEstimates{{{SecondMoment::elementwise, "elementwise"},
                                           {SecondMoment::full_square, "full-square"},
                                           {SecondMoment::without_weight_square, "without-weight-square"},
                                           {SecondMoment::coded, "coded"}}};

[[noreturn]] void no_such_estimate(const std::string& name) {
  throw Error(Fault::usage, fmt::format("there is no second-moment estimate '{}'; choose {}", name,
                                        fmt::join(second_moment_names(), ", ")));
}

void require(const char* symbol, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw Error(Fault::training,
              fmt::format("the second moment needs {} to be finite and not negative, but it is {}", symbol, value));
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

double second_moment(SecondMoment estimate, double c, double penultimate_norm, double penultimate_square_norm,
                     double lambda, double weight_norm) {
  require("c", c);
  require("K_z", penultimate_norm);
  require("lambda", lambda);
  require("||w||", weight_norm);
  const double data = c * penultimate_norm;
  const double weight = lambda * weight_norm;
  switch (estimate) {
    case SecondMoment::elementwise:
      return (data + weight) * (data + weight);
    case SecondMoment::full_square:
      return data * data + weight * weight + 2 * weight * data;
    case SecondMoment::without_weight_square:
      return data * data + 2 * weight * data;
    case SecondMoment::coded:
      require("max ||A o A||_F", penultimate_square_norm);
      return c * c * penultimate_square_norm + 2 * weight * data;
  }
  no_such_estimate(std::to_string(static_cast<int>(estimate)));
}

}  // namespace lipschitzlr::rate

#pragma once
// Which constant to take the rate from. Theory does not settle it: 1/beta never raises the loss but can be far too
// careful, the published 1/L is a heuristic that is sometimes much larger and still works (method: the table in section
// 2). So a short trial of full steps from zero with each decides, and says so.

#include <string>
#include <vector>

#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

struct Trial {
  ConstantKind kind;
  double rate;
  double loss;  // after the trial's steps; infinite when it left the finite numbers
};

struct Advice {
  ConstantKind kind;
  std::string reason;         // one sentence
  std::vector<Trial> trials;  // one for each constant with a rate of its own
};

inline constexpr int kTrialSteps = 30;

template <class Scalar>
Advice advise(const Problem<Scalar>& problem, int steps = kTrialSteps);

}  // namespace lipschitzlr::linear

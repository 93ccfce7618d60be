#pragma once
// Which constant to compute the rate from. Theory does not settle it: 1/beta never raises the loss but can be far too
// small, the published 1/L is a heuristic that is sometimes much larger and still works (method: the table in section
// 2). So a short trial of full steps from zero with each decides, and the reason is given.

#include <string>
#include <vector>

#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

struct Trial {
  ConstantKind kind;
  double rate;
  double loss;  // after the trial's steps; infinite when it became NaN or infinite
};

struct Advice {
  ConstantKind kind;
  int steps;                  // of each trial
  std::string reason;         // one sentence
  std::vector<Trial> trials;  // one for each constant with a rate of its own
};

// 200 steps where that is quick, fewer on large data, never under 20: by the number of stored values and outputs, so
// that the same data get the same advice on any machine. A large rate often raises the loss first and wins later, so a
// trial should be as long as time allows. Throws Error (data) when no constant gives a rate.
template <class Scalar>
Advice advise(const Problem<Scalar>& problem);

}  // namespace lipschitzlr::linear

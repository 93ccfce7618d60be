#pragma once
// The clock of a run and whoever looks on. Time is not the same in every process, and Ctrl-C may reach one alone: a
// team goes by the longest time and by anybody's wish to stop, so that all stop after the same step.

#include <chrono>

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

class Watch {
 public:
  Watch(const Observer& observer, Team* team) : observer_(observer), team_(team) {}

  // Shows a measurement with its time. False: someone wants to stop. Collective.
  bool show(Progress& now) const;

 private:
  using Clock = std::chrono::steady_clock;

  const Observer& observer_;
  Team* team_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace lipschitzlr::linear

#pragma once
// The clock of a run and whoever looks on. Time is not the same in every process, and Ctrl-C may reach one alone: a
// team asks itself about twenty times a second, and all its processes stop after the same step, when the time is up for
// any or any was told to stop.

#include <chrono>
#include <cstdint>

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

class StopMonitor {
 public:
  StopMonitor(const Observer& observer, double seconds, Communicator* communicator)
      : observer_(observer), limit_(seconds), communicator_(communicator) {}

  // Shows a measurement with its time. Collective: every process shows as many.
  void show(Progress& now);
  bool interrupted() const { return interrupted_; }
  bool late() const { return late_; }

 private:
  using Clock = std::chrono::steady_clock;

  void ask_team(double seconds);

  const Observer& observer_;
  double limit_;
  Communicator* communicator_;
  bool interrupted_ = false, late_ = false;
  bool told_ = false;                        // to stop, in this process
  std::int64_t shown_ = 0, next_asked_ = 1;  // measurements
  Clock::time_point started_ = Clock::now();
};

}  // namespace lipschitzlr::linear

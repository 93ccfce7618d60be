#pragma once
// The clock and the observer of a run. Processes do not share a clock, and Ctrl-C may reach only one of them: they
// exchange both about twenty times a second, and all stop after the same step, when the time is up for any of them or
// any was interrupted.

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

  void exchange(double seconds);

  const Observer& observer_;
  double limit_;
  Communicator* communicator_;
  bool interrupted_ = false, late_ = false;
  bool told_ = false;                           // to stop, in this process
  std::int64_t shown_ = 0, next_exchange_ = 1;  // measurements
  Clock::time_point started_ = Clock::now();
};

}  // namespace lipschitzlr::linear

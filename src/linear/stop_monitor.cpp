#include "linear/stop_monitor.hpp"

#include <algorithm>
#include <array>

namespace lipschitzlr::linear {
namespace {

constexpr double kSecondsBetween = 0.05;  // two exchanges

}  // namespace

void StopMonitor::show(Progress& now) {
  now.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  told_ |= observer_ && !observer_(now);
  ++shown_;
  if (communicator_ != nullptr) return exchange(now.seconds);
  interrupted_ = told_;
  late_ = now.seconds >= limit_;
}

// The next time follows from what was exchanged, so that all processes take part at the same measurement.
void StopMonitor::exchange(double seconds) {
  if (shown_ < next_exchange_) return;
  std::array<double, 3> answers{seconds, told_ ? 1.0 : 0.0, seconds >= limit_ ? 1.0 : 0.0};
  communicator_->maximum(answers);
  const double pace = static_cast<double>(shown_) / std::max(answers[0], kSecondsBetween);
  next_exchange_ = shown_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(pace * kSecondsBetween));
  interrupted_ = answers[1] > 0;
  late_ = answers[2] > 0;
}

}  // namespace lipschitzlr::linear

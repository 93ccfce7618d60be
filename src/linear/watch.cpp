#include "linear/watch.hpp"

#include <array>

namespace lipschitzlr::linear {

bool Watch::show(Progress& now) const {
  now.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  const bool goes_on = !observer_ || observer_(now);
  if (team_ == nullptr) return goes_on;
  std::array<double, 2> answers{now.seconds, goes_on ? 0.0 : 1.0};
  team_->maximum(answers);
  now.seconds = answers[0];
  return answers[1] == 0;
}

}  // namespace lipschitzlr::linear

#pragma once
// Schedules of a usual, hand-chosen rate: by which factor it is multiplied in step t = 0, 1, ... of T.
//   constant  1
//   cosine    (1 + cos(pi t/T)) / 2: from 1 to 0, which it would reach in step T
//   linear    1 - t/T: from 1 to 0 likewise
//   step      1, a tenth from half of the steps on, a hundredth from three quarters on
// From step T on a schedule stays where it came to. With a warm-up of W steps the factor rises first: (t+1)/(W+1) in
// step t < W; the schedule takes the other T - W steps.

#include <cstdint>
#include <string>
#include <vector>

namespace lipschitzlr::rate {

enum class Schedule { constant, cosine, linear, step };

double schedule_factor(Schedule schedule, std::uint64_t step, std::uint64_t steps, std::uint64_t warmup_steps = 0);

std::string to_string(Schedule schedule);
Schedule schedule_from(const std::string& name);  // throws Error (usage) that lists the names
std::vector<std::string> schedule_names();

}  // namespace lipschitzlr::rate

#include "lipschitzlr/rate/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::rate {
namespace {

struct NamedSchedule {
  Schedule schedule;
  const char* name;
};
constexpr NamedSchedule kAll[] = {{Schedule::constant, "constant"},
                                  {Schedule::cosine, "cosine"},
                                  {Schedule::linear, "linear"},
                                  {Schedule::step, "step"}};

}  // namespace

double schedule_factor(Schedule schedule, std::uint64_t step, std::uint64_t steps, std::uint64_t warmup_steps) {
  if (step < warmup_steps) return static_cast<double>(step + 1) / static_cast<double>(warmup_steps + 1);
  if (schedule == Schedule::constant) return 1;
  step -= warmup_steps;
  steps -= std::min(warmup_steps, steps);
  const double share = steps == 0 ? 1 : static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
  if (schedule == Schedule::cosine) return (1 + std::cos(std::numbers::pi * share)) / 2;
  if (schedule == Schedule::linear) return 1 - share;
  if (share < 0.5) return 1;
  return share < 0.75 ? 0.1 : 0.01;
}

std::string to_string(Schedule schedule) { return kAll[static_cast<std::size_t>(schedule)].name; }

Schedule schedule_from(const std::string& name) {
  for (const NamedSchedule& one : kAll) {
    if (one.name == name) return one.schedule;
  }
  throw Error(Fault::usage,
              fmt::format("there is no schedule \"{}\"; known are {}", name, fmt::join(schedule_names(), ", ")));
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const NamedSchedule& one : kAll) names.push_back(one.name);
  return names;
}

}  // namespace lipschitzlr::rate

#pragma once
// What nn/step_check.hpp counts; needs no libtorch.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lipschitzlr::nn {

// Of the steps of an epoch.
struct CheckCounts {
  std::int64_t steps = 0;
  std::int64_t last_largest = 0;   // the head's weights have the largest gradient
  std::int64_t small_updates = 0;  // ||dw|| <= 1
  std::int64_t over_published = 0, over_certified = 0, over_tight = 0;
  double update = 0;                                      // mean ||dw||
  double published = 0, certified = 0, tight = 0;         // mean share of the constant that the head's gradient reaches
  std::vector<std::pair<std::string, double>> gradients;  // mean norm by layer, the head last
};

}  // namespace lipschitzlr::nn

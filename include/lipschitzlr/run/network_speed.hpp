#pragma once
// How fast a network trains on this machine, as `probe` measures and prints it. libtorch is not needed here.

#include <string>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::run {

// In seconds per image.
struct NetworkSpeed {
  std::string data, network;
  Index batch = 0;
  double step = 0;     // a training step
  double forward = 0;  // evaluation
};

std::string to_json(const std::vector<NetworkSpeed>& speeds);
std::vector<NetworkSpeed> speeds_from(const std::string& json);  // throws Error (data)

// What a probe measured, kept among the records so that a report can say how long the rest would take.
inline constexpr const char* kSpeedsFile = "speeds.json";

}  // namespace lipschitzlr::run

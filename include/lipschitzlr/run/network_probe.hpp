#pragma once
// How fast a network trains here: a few steps on images made of noise, of the size and with the classes of a named set,
// so that it needs no data at hand. The first step, which sets up what the later ones reuse, is not counted.

#include <string>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::run {

struct NetworkProbe {
  std::string data, network;
  Index batch = 0;
  double step_seconds = 0, forward_seconds = 0;  // per image: in training, in evaluation
};

// Throws Error (usage) when there is no such set of images or network.
NetworkProbe probe_network(const std::string& data, const std::string& network, Index batch, unsigned threads);

}  // namespace lipschitzlr::run

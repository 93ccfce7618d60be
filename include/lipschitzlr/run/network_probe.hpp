#pragma once
// How fast a network trains here: a few steps on images made of noise, of the size and with the classes of a named set,
// so that it needs no data. The first step, which sets up what the later ones reuse, is not counted.

#include <string>

#include "lipschitzlr/run/network_speed.hpp"

namespace lipschitzlr::run {

// Throws Error (usage) when there is no such set of images or network.
NetworkSpeed probe_network(const std::string& data, const std::string& network, Index batch, unsigned threads);

}  // namespace lipschitzlr::run

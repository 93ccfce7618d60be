#pragma once
// The networks of the paper by name (method.md, section 4.8), and two small ones beside them. A new network is one file
// in src/nn/model/ and one line in registry.cpp.

#include <memory>
#include <string>
#include <vector>

#include "lipschitzlr/nn/network.hpp"
#include "lipschitzlr/nn/network_options.hpp"

namespace lipschitzlr::nn {

struct NetworkInfo {
  std::string name;         // "resnetN-v1": N stands for a number
  std::string description;  // one line
};

std::vector<NetworkInfo> networks();

// Throws Error (usage) that lists the names when there is no such network, or says which depths there are, or that the
// images are too small for it.
std::shared_ptr<Network> make_network(const std::string& name, const NetworkOptions& options);

}  // namespace lipschitzlr::nn

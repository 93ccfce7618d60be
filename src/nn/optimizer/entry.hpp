#pragma once
// An optimizer in the registry, and what it is made from in a training.

#include <functional>
#include <memory>

#include "lipschitzlr/nn/peers.hpp"
#include "nn/optimizer_choice.hpp"

namespace lipschitzlr::nn::optimizer {

using Groups = PeerOptimizer::Groups;

struct Parts {
  const TrainerOptions& options;
  ControllerOptions controller;
  Network& network;

  std::vector<at::Tensor> buffers() const {
    return options.buffers_in_weight_norm ? network.buffers() : std::vector<at::Tensor>{};
  }
};

struct Entry {
  OptimizerInfo info;
  const char* rule = "sgd";  // that computes its rates
  std::function<ChosenOptimizer(const Parts&)> make;
  std::function<std::unique_ptr<PeerOptimizer>(Groups, const PeerOptions&)> make_peer = {};  // of a peer only
};

// Throws Error (usage) that lists the names when there is none of that name.
const Entry& entry_of(const std::string& name);

ChosenOptimizer choose_peer(const Entry& entry, const Parts& parts);

// The entry of a class derived from PeerOptimizer.
template <class Peer>
Entry peer(OptimizerInfo info) {
  info.computed_rate = false;
  const std::string name = info.name;
  return {.info = std::move(info),
          .make = [name](const Parts& parts) { return choose_peer(entry_of(name), parts); },
          .make_peer =
              [name](Groups groups, const PeerOptions& defaults) {
                return std::make_unique<Peer>(name, std::move(groups), defaults);
              }};
}

}  // namespace lipschitzlr::nn::optimizer

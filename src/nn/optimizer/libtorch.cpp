// libtorch's own optimizers, which a rate controller drives.

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "nn/optimizer/groups.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

namespace optim = torch::optim;

template <class Optimizer, class Options>
ChosenOptimizer make_driven(const Parts& parts, const Options& options) {
  return driven(parts, std::make_unique<Optimizer>(make_groups(parts, options), options));
}

}  // namespace

Entry momentum() {
  return {{"momentum", "libtorch's SGD with momentum", 0.01}, "sgd", [](const Parts& parts) {
            return make_driven<optim::SGD>(parts, optim::SGDOptions(0.01).momentum(parts.controller.rule_options.beta));
          }};
}

Entry adam() {
  return {{"adam", "libtorch's", 0.001}, "auto-adam", [](const Parts& parts) {
            return make_driven<optim::Adam>(parts, optim::AdamOptions(0.001));
          }};
}

Entry adamw() {
  return {{"adamw", "libtorch's, whose weight decay is no part of the gradient", 0.001},
          "auto-adam",
          [](const Parts& parts) { return make_driven<optim::AdamW>(parts, optim::AdamWOptions(0.001)); }};
}

}  // namespace lipschitzlr::nn::optimizer

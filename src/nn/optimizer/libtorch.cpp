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

template <class Options>
Options adam_options(const Parts& parts) {
  const rate::RuleOptions& rule = parts.controller.rule_options;
  return Options(0.001).betas({rule.beta1, rule.beta2}).eps(rule.epsilon);
}

}  // namespace

Entry momentum() {
  return {{"momentum", "libtorch's SGD with momentum", 0.01}, "sgd", [](const Parts& parts) {
            return make_driven<optim::SGD>(parts, optim::SGDOptions(0.01).momentum(parts.controller.rule_options.beta));
          }};
}

Entry adam() {
  return {{"adam", "libtorch's", 0.001}, "auto-adam", [](const Parts& parts) {
            return make_driven<optim::Adam>(parts, adam_options<optim::AdamOptions>(parts));
          }};
}

Entry adamw() {
  return {
      {"adamw", "libtorch's, whose weight decay is no part of the gradient", 0.001},
      "auto-adam",
      [](const Parts& parts) { return make_driven<optim::AdamW>(parts, adam_options<optim::AdamWOptions>(parts)); }};
}

}  // namespace lipschitzlr::nn::optimizer

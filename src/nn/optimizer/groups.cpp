#include "nn/optimizer/groups.hpp"

#include <algorithm>

namespace lipschitzlr::nn::optimizer {

DecayParts decay_parts(const Parts& parts) {
  const std::vector<at::Tensor> penalized = parts.network.penalized();
  const auto decays = [&](const at::Tensor& parameter) {
    if (!parts.options.decay_some_only) return true;
    return std::any_of(penalized.begin(), penalized.end(),
                       [&](const at::Tensor& other) { return other.is_same(parameter); });
  };
  DecayParts result;
  for (const at::Tensor& parameter : parts.network.parameters()) {
    (decays(parameter) ? result.decayed : result.free).push_back(parameter);
  }
  return result;
}

ChosenOptimizer driven(const Parts& parts, std::unique_ptr<torch::optim::Optimizer> optimizer) {
  std::vector<at::Tensor> weights = parts.network.parameters(), buffers = parts.buffers();
  weights.insert(weights.end(), buffers.begin(), buffers.end());
  auto controller = std::make_unique<RateController>(parts.network.head()->tap(), weights, parts.controller);
  RateController* const pointer = controller.get();
  return {std::move(optimizer), std::move(controller), pointer};
}

ChosenOptimizer choose_peer(const Entry& entry, const Parts& parts) {
  PeerOptions options(*parts.controller.rule_options.first_rate);
  options.settings(completed_settings(entry.info, parts.options.settings));
  return driven(parts, entry.make_peer(make_groups(parts, options), options));
}

}  // namespace lipschitzlr::nn::optimizer

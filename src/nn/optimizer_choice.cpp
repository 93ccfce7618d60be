#include "nn/optimizer_choice.hpp"

#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <functional>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/nn/optimizers.hpp"

namespace lipschitzlr::nn {
namespace {

using Groups = LipschitzOptimizer::Groups;

struct Parts {
  const TrainerOptions& options;
  ControllerOptions controller;
  Network& network;

  std::vector<at::Tensor> buffers() const {
    return options.buffers_in_weight_norm ? network.buffers() : std::vector<at::Tensor>{};
  }
};

struct Choice {
  const char* name;
  const char* rule;
  double rate;  // the default of the policy baseline (paper, section 9.3.4)
  std::function<ChosenOptimizer(const Parts&)> make;
};

// Whether libtorch keeps the tensor in the group that is decayed.
bool decays(const TrainerOptions& options, const std::vector<at::Tensor>& penalized, const at::Tensor& parameter) {
  if (!options.decay_some_only) return true;
  return std::any_of(penalized.begin(), penalized.end(),
                     [&](const at::Tensor& other) { return other.is_same(parameter); });
}

// Two groups: with weight decay and without. Options is the optimizer's own, with its method weight_decay.
template <class Options>
Groups make_groups(const Parts& parts, Options base) {
  std::vector<at::Tensor> decayed, free;
  const std::vector<at::Tensor> penalized = parts.network.penalized();
  for (const at::Tensor& parameter : parts.network.parameters()) {
    (decays(parts.options, penalized, parameter) ? decayed : free).push_back(parameter);
  }
  Groups groups;
  const auto add = [&](std::vector<at::Tensor> tensors, double decay) {
    if (tensors.empty()) return;
    base.weight_decay(decay);
    groups.emplace_back(std::move(tensors), std::make_unique<Options>(base));
  };
  add(decayed, parts.options.weight_decay);
  add(free, 0);
  return groups;
}

template <class Optimizer>
ChosenOptimizer make_ours(const Parts& parts) {
  LipschitzOptions options;
  options.bias_correction(parts.options.correct_averages);
  auto optimizer = std::make_unique<Optimizer>(make_groups(parts, options), parts.network.head()->tap(),
                                               parts.controller, options, parts.buffers());
  RateController* controller = &optimizer->controller();
  return {std::move(optimizer), nullptr, controller};
}

template <class Optimizer, class Options>
ChosenOptimizer make_theirs(const Parts& parts, Options options) {
  std::vector<at::Tensor> weights = parts.network.parameters(), buffers = parts.buffers();
  weights.insert(weights.end(), buffers.begin(), buffers.end());
  auto controller = std::make_unique<RateController>(parts.network.head()->tap(), weights, parts.controller);
  RateController* const pointer = controller.get();
  return {std::make_unique<Optimizer>(make_groups(parts, options), options), std::move(controller), pointer};
}

const std::vector<Choice>& choices() {
  namespace optim = torch::optim;
  static const std::vector<Choice> list = {
      {"sgd", "sgd", 0.01, make_ours<LipschitzSGD>},
      {"adamo", "adamo", 0.01, make_ours<AdaMo>},
      {"rmsprop", "rmsprop", 0.001, make_ours<AdaptiveRMSprop>},
      {"auto-adam", "auto-adam", 0.001, make_ours<AutoAdam>},
      {"momentum", "sgd", 0.01,
       [](const Parts& parts) {
         return make_theirs<optim::SGD>(parts, optim::SGDOptions(0.01).momentum(parts.controller.rule_options.beta));
       }},
      {"adam", "auto-adam", 0.001,
       [](const Parts& parts) { return make_theirs<optim::Adam>(parts, optim::AdamOptions(0.001)); }},
      {"adamw", "auto-adam", 0.001,
       [](const Parts& parts) { return make_theirs<optim::AdamW>(parts, optim::AdamWOptions(0.001)); }},
  };
  return list;
}

const Choice& choice_of(const std::string& name) {
  for (const Choice& choice : choices()) {
    if (choice.name == name) return choice;
  }
  throw Error(Fault::usage,
              fmt::format("there is no optimizer \"{}\"; known are {}", name, fmt::join(optimizer_names(), ", ")));
}

}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const Choice& choice : choices()) names.push_back(choice.name);
  return names;
}

double default_rate(const std::string& optimizer) { return choice_of(optimizer).rate; }

void ChosenOptimizer::step() {
  if (own_controller) own_controller->drive(*optimizer);
  optimizer->step();
}

ChosenOptimizer choose_optimizer(const TrainerOptions& options, Network& network) {
  const Choice& choice = choice_of(options.optimizer);
  Parts parts{options, options.controller, network};
  parts.controller.rule = choice.rule;
  parts.controller.loss = {.kind = LossKind::multiclass, .classes = options.network_options.classes};
  if (options.policy == Policy::fixed) parts.controller.rule_options.fixed = true;
  if (options.policy == Policy::baseline) {
    // A rule that is never fed keeps its first rate.
    parts.controller.rule_options.update = rate::Update::per_epoch;
    parts.controller.rule_options.first_rate = options.baseline_rate > 0 ? options.baseline_rate : choice.rate;
  }
  return choice.make(parts);
}

}  // namespace lipschitzlr::nn

#include "lipschitzlr/nn/lipschitz_rate.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn {
namespace {

namespace optim = torch::optim;

template <class Options>
const Options* options_as(const optim::Optimizer& optimizer) {
  return dynamic_cast<const Options*>(&optimizer.param_groups().front().options());
}

template <class Options>
void take_adam(ControllerOptions& options, const Options& adam) {
  options.rule = "auto-adam";
  options.rule_options.bias_correction = true;
  std::tie(options.rule_options.beta1, options.rule_options.beta2) = adam.betas();
  options.rule_options.epsilon = adam.eps();
}

ControllerOptions with_rule_of(const optim::Optimizer& optimizer, ControllerOptions options) {
  if (dynamic_cast<const Optimizer*>(&optimizer) != nullptr) {
    throw Error(Fault::usage, "an optimizer of lipschitzlr sets its rate itself; call its step()");
  }
  if (!options.rule.empty()) return options;
  if (const auto* sgd = options_as<optim::SGDOptions>(optimizer)) {
    const bool averages = sgd->momentum() != 0;
    options.rule = averages ? "adamo" : "sgd";
    options.rule_options.beta = sgd->momentum();
    if (averages) options.factor *= (1 - sgd->momentum()) / (1 - sgd->dampening());
  } else if (const auto* adam = options_as<optim::AdamOptions>(optimizer)) {
    take_adam(options, *adam);
  } else if (const auto* adamw = options_as<optim::AdamWOptions>(optimizer)) {
    take_adam(options, *adamw);
  } else if (const auto* rmsprop = options_as<optim::RMSpropOptions>(optimizer)) {
    options.rule = "rmsprop";
    options.rule_options.bias_correction = false;
    options.rule_options.beta = rmsprop->alpha();
    options.rule_options.epsilon = rmsprop->eps();
    options.factor *= 1 - rmsprop->momentum();
  } else {
    throw Error(Fault::usage,
                "which rule goes with this optimizer is not known; name one in options.rule: sgd, adamo, "
                "rmsprop or auto-adam");
  }
  return options;
}

}  // namespace

LipschitzRate::LipschitzRate(optim::Optimizer& optimizer, std::shared_ptr<Tap> tap, ControllerOptions options)
    : RateController(optimizer, std::move(tap), with_rule_of(optimizer, std::move(options))), driven_(optimizer) {}

at::Tensor LipschitzRate::step(const std::function<at::Tensor()>& closure) {
  at::Tensor loss = optimizer::loss_of(closure);
  begin_step();
  driven_.step();
  end_step();
  return loss;
}

}  // namespace lipschitzlr::nn

#include "lipschitzlr/nn/optimizers.hpp"

#include <torch/optim/serialize.h>
#include <torch/serialize/archive.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/work.hpp"

namespace lipschitzlr::nn {
namespace {

using optimizer::average_into, optimizer::average_squares_into, optimizer::read_number, optimizer::root;

ControllerOptions with_rule(ControllerOptions options, const char* rule) {
  options.rule = rule;
  return options;
}

std::vector<at::Tensor> weights_of(const LipschitzOptimizer::Groups& groups, const std::vector<at::Tensor>& buffers) {
  std::vector<at::Tensor> weights = buffers;
  for (const auto& group : groups) weights.insert(weights.end(), group.params().begin(), group.params().end());
  return weights;
}

// 1 - beta^steps with bias correction, else 1.
double correction(const LipschitzOptions& options, double beta, const LipschitzParamState& state) {
  return options.bias_correction() ? 1 - std::pow(beta, static_cast<double>(state.step())) : 1;
}

}  // namespace

void LipschitzOptions::serialize(torch::serialize::OutputArchive& archive) const {
  archive.write("weight_decay", c10::IValue(weight_decay()));
  archive.write("bias_correction", c10::IValue(bias_correction()));
  archive.write("scale", c10::IValue(scale()));
  archive.write("lr", c10::IValue(lr()));
}

void LipschitzOptions::serialize(torch::serialize::InputArchive& archive) {
  weight_decay(read_number(archive, "weight_decay"));
  c10::IValue corrected;
  archive.read("bias_correction", corrected);
  bias_correction(corrected.toBool());
  scale(read_number(archive, "scale"));
  lr(read_number(archive, "lr"));
}

void LipschitzParamState::serialize(torch::serialize::OutputArchive& archive) const {
  archive.write("step", c10::IValue(step()));
  if (first().defined()) archive.write("first", first(), true);
  if (second().defined()) archive.write("second", second(), true);
}

void LipschitzParamState::serialize(torch::serialize::InputArchive& archive) {
  c10::IValue steps;
  archive.read("step", steps);
  step(steps.toInt());
  if (torch::Tensor average; archive.try_read("first", average, true)) first(average);
  if (torch::Tensor average; archive.try_read("second", average, true)) second(average);
}

LipschitzOptimizer::LipschitzOptimizer(Groups groups, std::shared_ptr<Tap> tap, ControllerOptions options,
                                       const char* rule, LipschitzOptions defaults,
                                       const std::vector<torch::Tensor>& buffers)
    : Optimizer(groups, std::make_unique<LipschitzOptions>(defaults)),
      buffers_(buffers),
      groups_watched_(groups.size()),
      controller_(std::make_unique<RateController>(std::move(tap), weights_of(groups, buffers),
                                                   with_rule(std::move(options), rule))) {}

torch::Tensor LipschitzOptimizer::step(LossClosure closure) {
  torch::Tensor loss = optimizer::loss_of(closure);
  const torch::NoGradGuard no_grad;
  if (groups_watched_ != param_groups_.size()) {  // libtorch's add_param_group() tells nobody
    controller_->watch(weights_of(param_groups_, buffers_));
    groups_watched_ = param_groups_.size();
  }
  controller_->before_step();
  for (auto& group : param_groups_) {
    auto& options = static_cast<LipschitzOptions&>(group.options());
    options.lr(controller_->rate() * options.scale());
  }
  for (auto& one : optimizer::begin_step<LipschitzParamState, LipschitzOptions>(*this)) {
    update(one.parameter, one.gradient, one.state, one.options);
  }
  controller_->after_step();
  return loss;
}

void LipschitzOptimizer::save(torch::serialize::OutputArchive& archive) const {
  torch::optim::serialize<LipschitzParamState, LipschitzOptions>(archive, *this);
  archive.write("rate", c10::IValue(controller_->save()));
}

void LipschitzOptimizer::load(torch::serialize::InputArchive& archive) {
  c10::IValue rate;
  if (!archive.try_read("rate", rate)) throw Error(Fault::data, "the archive holds another optimizer's state");
  controller_->load(rate.toStringRef());  // first: it refuses another rule's state
  torch::optim::serialize<LipschitzParamState, LipschitzOptions>(archive, *this);
}

void LipschitzSGD::update(torch::Tensor& parameter, const torch::Tensor& gradient, LipschitzParamState&,
                          const LipschitzOptions& options) {
  parameter.add_(gradient, -options.lr());
}

void AdaMo::update(torch::Tensor& parameter, const torch::Tensor& gradient, LipschitzParamState& state,
                   const LipschitzOptions& options) {
  const double beta = rule_options().beta;
  average_into(state.first(), gradient, beta);
  parameter.add_(state.first(), -options.lr() / correction(options, beta, state));
}

void AdaptiveRMSprop::update(torch::Tensor& parameter, const torch::Tensor& gradient, LipschitzParamState& state,
                             const LipschitzOptions& options) {
  const double beta = rule_options().beta;
  average_squares_into(state.second(), gradient, beta);
  parameter.addcdiv_(gradient, root(state.second(), correction(options, beta, state), rule_options().epsilon),
                     -options.lr());
}

void AutoAdam::update(torch::Tensor& parameter, const torch::Tensor& gradient, LipschitzParamState& state,
                      const LipschitzOptions& options) {
  const double beta1 = rule_options().beta1, beta2 = rule_options().beta2;
  average_into(state.first(), gradient, beta1);
  average_squares_into(state.second(), gradient, beta2);
  parameter.addcdiv_(state.first(), root(state.second(), correction(options, beta2, state), rule_options().epsilon),
                     -options.lr() / correction(options, beta1, state));
}

}  // namespace lipschitzlr::nn

#include "lipschitzlr/nn/controller.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::nn {
namespace {

bound::Constant loss_constant(const ControllerOptions& options, const PenultimateNorms& norms) {
  switch (options.loss.kind) {
    case LossKind::multiclass:
      return multiclass_constant(options.variant, norms, options.loss.classes);
    case LossKind::binary:
      return binary_constant(options.variant, norms);
    case LossKind::regression:
      return regression_constant(options.variant, norms, options.loss.output_bound, options.loss.target_norm);
  }
  throw Error(Fault::usage, "there is no such loss");
}

nlohmann::json to_json(const PenultimateNorms& norms) {
  return {norms.frobenius, norms.row_norm_sum, norms.square_frobenius, norms.rows};
}

PenultimateNorms norms_from(const nlohmann::json& json) {
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>(), json.at(3).get<Index>()};
}

}  // namespace

double largest_norm(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  double largest = 0;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || !at::isFloatingType(tensor.scalar_type())) continue;
    const double norm = tensor.detach().to(at::kDouble).norm().item<double>();
    if (std::isnan(norm)) return norm;
    largest = std::max(largest, norm);
  }
  return largest;
}

RateController::RateController(std::shared_ptr<Tap> tap, std::vector<at::Tensor> weights, ControllerOptions options)
    : tap_(std::move(tap)),
      weights_(std::move(weights)),
      options_(std::move(options)),
      rule_(rate::make_rule(options_.rule, options_.rule_options)) {
  if (!tap_) throw Error(Fault::usage, "a rate controller needs the tap of the network's head");
  if (!(options_.l2 >= 0))
    throw Error(Fault::usage, fmt::format("the L2 factor is {}; it must be 0 or above", options_.l2));
}

double RateController::weight_norm() const {
  double norm = largest_norm(weights_);
  if (communicator_ != nullptr) communicator_->broadcast(std::as_writable_bytes(std::span(&norm, 1)));
  return norm;
}

void RateController::feed(const PenultimateNorms& norms) {
  if (norms.rows == 0) {
    throw Error(Fault::usage,
                "no penultimate activations were measured; is the last layer a Head, the model in training mode, and "
                "was there a forward pass before the step?");
  }
  const bound::Constant constant = loss_constant(options_, norms);
  RateNumbers now;
  now.penultimate_norm = norms.frobenius;
  // Only a penalty asks for the weights' norm, but a log wants it too: it is cheap beside an epoch, not beside a step.
  const bool per_step = options_.rule_options.update == rate::Update::per_iteration;
  now.weight_norm = per_step && options_.l2 == 0 ? numbers_.weight_norm : weight_norm();
  now.gradient_bound = options_.gradient_bound.value_or(bound::with_l2(constant, options_.l2, now.weight_norm).value);
  const double factor = norms.frobenius > 0 ? constant.value / norms.frobenius : 0;
  now.second_moment = rate::second_moment(options_.second_moment, factor, norms.frobenius, norms.square_frobenius,
                                          options_.l2, now.weight_norm);
  rule_->observe({now.gradient_bound, now.second_moment, now.penultimate_norm});
  numbers_ = now;
}

void RateController::before_step() {
  const bool per_step = options_.rule_options.update == rate::Update::per_iteration;
  if (!per_step && !rule_->has_rate()) guessed_ = true;
  if (per_step || !rule_->has_rate()) feed(tap_->reading().last);
}

double RateController::rate() const {
  return rule_->rate_at(steps_) * rate::schedule_factor(options_.schedule, steps_, options_.schedule_steps);
}

void RateController::observe() {
  // The fixed policy takes its constant from a whole epoch: what the first batch gave was only to begin with.
  if (guessed_ && options_.rule_options.fixed) rule_ = rate::make_rule(options_.rule, options_.rule_options);
  guessed_ = false;
  feed(tap_->reading().largest);
}

void RateController::end_epoch() {
  if (options_.rule_options.update == rate::Update::per_epoch) observe();
  rule_->end_epoch();
  tap_->reset();
}

void RateController::drive(torch::optim::Optimizer& optimizer) {
  before_step();
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate());
  after_step();
}

std::string RateController::save() const {
  const TapReading& reading = tap_->reading();
  const nlohmann::ordered_json json = {
      {"rule", nlohmann::json::parse(rule_->save())},
      {"steps", steps_},
      {"guessed", guessed_},
      {"numbers", {numbers_.penultimate_norm, numbers_.weight_norm, numbers_.gradient_bound, numbers_.second_moment}},
      {"tap", {{"last", to_json(reading.last)}, {"largest", to_json(reading.largest)}, {"batches", reading.batches}}},
  };
  return json.dump();
}

void RateController::load(const std::string& text) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const nlohmann::json &numbers = json.at("numbers"), &tap = json.at("tap");
    const RateNumbers read = {numbers.at(0).get<double>(), numbers.at(1).get<double>(), numbers.at(2).get<double>(),
                              numbers.at(3).get<double>()};
    const TapReading reading = {norms_from(tap.at("last")), norms_from(tap.at("largest")),
                                tap.at("batches").get<std::int64_t>()};
    const auto steps = json.at("steps").get<std::uint64_t>();
    rule_->load(json.at("rule").dump());
    options_.rule_options = rule_->options();
    guessed_ = json.value("guessed", false);
    numbers_ = read;
    steps_ = steps;
    tap_->restore(reading);
  } catch (const nlohmann::json::exception&) {
    throw Error(Fault::data, "the saved state of the learning rate is damaged");
  }
}

}  // namespace lipschitzlr::nn

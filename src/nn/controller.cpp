#include "lipschitzlr/nn/controller.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::nn {
namespace {

[[noreturn]] void usage_error(const std::string& sentence) { throw Error(Fault::usage, sentence); }

[[noreturn]] void nothing_measured() {
  usage_error(
      "no penultimate activations were measured; is the last layer a Head, the model in training mode, and was there a "
      "forward pass before the step?");
}

ControllerOptions checked(ControllerOptions options) {
  if (!(options.l2 >= 0)) usage_error(fmt::format("the L2 factor is {}; it must be 0 or above", options.l2));
  if (!(options.factor > 0) || !std::isfinite(options.factor)) {
    usage_error(fmt::format("the factor of the rate is {}; it must be a finite number above 0", options.factor));
  }
  if (options.steps_per_epoch < 0) usage_error("steps_per_epoch must be 0 (no epochs) or above");
  if (options.announces_epochs || options.steps_per_epoch > 0) return options;
  if (options.rule_options.first_rate) {
    usage_error("a first-epoch rate needs steps_per_epoch, the number of steps after which the first epoch ends");
  }
  options.rule_options.update = rate::Update::per_iteration;
  return options;
}

Loss loss_behind(const Tap& tap) {
  if (tap.outputs() >= 2) return cross_entropy(tap.outputs());
  usage_error(tap.outputs() == 1
                  ? "a head of one output does not tell its loss; set loss to binary_cross_entropy() or to "
                    "squared_error()"
                  : "a tap without a Head does not tell its loss; set loss, for example to cross_entropy(10)");
}

nlohmann::json to_json(const PenultimateNorms& norms) {
  nlohmann::json json = {norms.frobenius, norms.row_norm_sum, norms.square_frobenius, norms.rows};
  if (norms.output_norm > 0 || norms.target_norm > 0) {  // of a regression
    json.push_back(norms.output_norm);
    json.push_back(norms.target_norm);
  }
  return json;
}

[[noreturn]] void damaged() { throw Error(Fault::data, "the saved state of the learning rate is damaged"); }

double number_from(const nlohmann::json& json) {
  if (!(json.get<double>() >= 0)) damaged();
  return json.get<double>();
}

std::int64_t count_from(const nlohmann::json& json) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) damaged();
  return json.get<std::int64_t>();
}

PenultimateNorms activation_norms_from(const nlohmann::json& json) {
  return {number_from(json.at(0)), number_from(json.at(1)), number_from(json.at(2)), count_from(json.at(3))};
}

PenultimateNorms norms_from(const nlohmann::json& json) {
  PenultimateNorms norms = activation_norms_from(json);
  if (json.size() < 6) return norms;  // of classes
  norms.output_norm = number_from(json.at(4));
  norms.target_norm = number_from(json.at(5));
  return norms;
}

// With what the elementwise second moment needs besides.
nlohmann::ordered_json kept_to_json(const PenultimateNorms& norms) {
  return {norms.frobenius, norms.row_norm_sum, norms.square_frobenius, norms.rows,
          norms.sum,       norms.cube_sum,     norms.columns};
}

PenultimateNorms kept_from(const nlohmann::json& json) {
  PenultimateNorms norms = activation_norms_from(json);
  norms.sum = json.at(4).get<double>();
  norms.cube_sum = json.at(5).get<double>();
  norms.columns = count_from(json.at(6));
  if (!std::isfinite(norms.sum) || !std::isfinite(norms.cube_sum)) damaged();
  return norms;
}

TapReading reading_from(const nlohmann::json& json) {
  TapReading reading{norms_from(json.at("last")), norms_from(json.at("largest")), count_from(json.at("batches"))};
  for (const nlohmann::json& norms : json.value("kept", nlohmann::json::array())) {
    reading.kept.push_back(kept_from(norms));
  }
  return reading;
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

RateController::RateController(torch::optim::Optimizer& optimizer, std::shared_ptr<Tap> tap, ControllerOptions options,
                               std::vector<at::Tensor> buffers)
    : optimizer_(optimizer),
      tap_(std::move(tap)),
      buffers_(std::move(buffers)),
      options_(checked(std::move(options))),
      rule_(rate::make_rule(options_.rule, options_.rule_options)) {
  if (!tap_ && rule_->measures()) usage_error("a rate that is computed needs the head of the network, or its tap");
  if (!tap_) tap_ = std::make_shared<Tap>();
  if (!options_.loss && rule_->measures()) options_.loss = loss_behind(*tap_);
  tap_->keep_batches(options_.second_moment == rate::SecondMoment::elementwise);
  if (options_.tight) tap_->want_tight_constant(true);
}

double RateController::weight_norm() const {
  std::vector<at::Tensor> weights = buffers_;
  for (const auto& group : optimizer_.param_groups()) {
    weights.insert(weights.end(), group.params().begin(), group.params().end());
  }
  double norm = largest_norm(weights);
  if (communicator_ != nullptr) communicator_->broadcast(std::as_writable_bytes(std::span(&norm, 1)));
  return norm;
}

void RateController::feed(const PenultimateNorms& norms, std::span<const PenultimateNorms> batches) {
  if (norms.rows == 0) nothing_measured();
  const bound::Constant constant = constant_of(norms);
  RateNumbers now;
  now.penultimate_norm = norms.frobenius;
  // Only a penalty asks for the weights' norm, but a log wants it too: it costs little once per epoch, but not in
  // every step.
  now.weight_norm = per_step() && options_.l2 == 0 ? numbers_.weight_norm : weight_norm();
  now.gradient_bound = options_.gradient_bound.value_or(bound::with_l2(constant, options_.l2, now.weight_norm).value);
  const double factor = norms.frobenius > 0 ? constant.value / norms.frobenius : 0;
  const auto second_moment = [&](const PenultimateNorms& of) {
    return rate::second_moment(options_.second_moment, factor, of.activations(), options_.l2, now.weight_norm);
  };
  now.second_moment = batches.empty() ? second_moment(norms) : 0;
  for (const PenultimateNorms& batch : batches) now.second_moment = std::max(now.second_moment, second_moment(batch));
  rule_->observe({now.gradient_bound, now.second_moment, now.penultimate_norm});
  numbers_ = now;
}

bound::Constant RateController::constant_of(const PenultimateNorms& norms) const {
  if (!options_.tight) return options_.loss(options_.variant, norms);
  return {"tight", whole_epoch_ ? largest_tight_ : tight_, "1/m sum ||p_i - y_i|| ||a_i||", {}};
}

void RateController::begin_step() {
  if (options_.tight) {
    tight_ = tap_->take_tight_constant();
    if (communicator_ != nullptr) communicator_->sum(std::span(&tight_, 1));
    largest_tight_ = std::max(largest_tight_, tight_);
  }
  const bool is_due = per_step() || !rule_->has_rate();
  // Where steps make the epochs each must have its forward pass, also those whose rate is known.
  if (rule_->measures() && (is_due || counts_epochs())) {
    const TapReading& reading = tap_->reading();
    if (reading.batches == batches_fed_) nothing_measured();  // the norms of an earlier step are none of this one
    batches_fed_ = reading.batches;
    if (is_due) {
      guessed_ = !per_step();
      feed(reading.last, {});
    }
  }
  std::vector<double> rates;
  for (auto& group : optimizer_.param_groups()) {
    const std::size_t number = rates.size();
    if (number < rates_.size() && group.options().get_lr() != rates_[number]) {
      usage_error(
          fmt::format("the rate of parameter group {} was set to {} by something else; it comes from the rule {}, and "
                      "the controller's options have schedules",
                      number, group.options().get_lr(), rule_->name()));
    }
    group.options().set_lr(rate());
    rates.push_back(group.options().get_lr());
  }
  rates_ = std::move(rates);
}

double RateController::rate() const {
  const ControllerOptions& o = options_;
  return rule_->rate_at(steps_) * rate::schedule_factor(o.schedule, steps_, o.schedule_steps, o.warmup_steps) *
         o.factor;
}

void RateController::end_step() {
  ++steps_;
  if (!counts_epochs()) return;
  if (steps_ % static_cast<std::uint64_t>(options_.steps_per_epoch) == 0) finish_epoch();
}

void RateController::observe() {
  // The fixed policy takes its constant from a whole epoch: what the first batch gave was only to begin with.
  if (guessed_ && options_.rule_options.fixed) rule_ = rate::make_rule(options_.rule, options_.rule_options);
  guessed_ = false;
  whole_epoch_ = true;
  feed(tap_->reading().largest, tap_->reading().kept);
  whole_epoch_ = false;
}

void RateController::end_epoch() {
  if (!options_.announces_epochs)
    usage_error("end_epoch() is for loops that announce epochs; here steps_per_epoch counts them");
  finish_epoch();
}

void RateController::finish_epoch() {
  if (!rule_->measures()) return;
  if (!per_step()) observe();
  rule_->end_epoch();
  largest_tight_ = 0;
  tap_->reset();
  batches_fed_ = 0;
}

std::string RateController::save() const {
  const TapReading& reading = tap_->reading();
  nlohmann::ordered_json json = {
      {"rule", parse_json(rule_->save(), "")},
      {"steps", steps_},
      {"guessed", guessed_},
      {"numbers", {numbers_.penultimate_norm, numbers_.weight_norm, numbers_.gradient_bound, numbers_.second_moment}},
      {"tap", {{"last", to_json(reading.last)}, {"largest", to_json(reading.largest)}, {"batches", reading.batches}}},
  };
  if (options_.tight) json["tight"] = largest_tight_;
  for (const PenultimateNorms& norms : reading.kept) json["tap"]["kept"].push_back(kept_to_json(norms));
  return json.dump();
}

void RateController::load(const std::string& text) {
  try {
    const nlohmann::json json = parse_json(text, "the saved state of the learning rate");
    const nlohmann::json &numbers = json.at("numbers"), &tap = json.at("tap");
    const RateNumbers read = {number_from(numbers.at(0)), number_from(numbers.at(1)), number_from(numbers.at(2)),
                              number_from(numbers.at(3))};
    const TapReading reading = reading_from(tap);
    const std::int64_t steps = count_from(json.at("steps"));
    const bool guessed = json.at("guessed").get<bool>();
    const double tight = json.contains("tight") ? number_from(json["tight"]) : 0;
    auto rule = rate::make_rule(options_.rule, options_.rule_options);
    rule->load(json.at("rule").dump());
    if (rule->options().update != options_.rule_options.update) {
      throw Error(Fault::data, "the saved rate is updated per epoch and this one in every step, or the reverse");
    }
    rule_ = std::move(rule);
    options_.rule_options = rule_->options();
    guessed_ = guessed;
    largest_tight_ = tight;
    numbers_ = read;
    steps_ = static_cast<std::uint64_t>(steps);
    tap_->restore(reading);
    batches_fed_ = reading.batches;
    rates_.clear();
  } catch (const nlohmann::json::exception&) {
    damaged();
  }
}

}  // namespace lipschitzlr::nn

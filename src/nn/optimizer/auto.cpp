#include "lipschitzlr/nn/auto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/json.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/sums.hpp"

namespace lipschitzlr::nn {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.995, kEpsilon = 1e-8;
constexpr double kLate = 8;  // how much of the average is of late steps

const OptimizerInfo& auto_info() {
  static const OptimizerInfo info{.name = "auto", .summary = "nothing to set: see docs/auto.md", .rate = 1};
  return info;
}

// The rule's rate is multiplied by the controller's, which is then that of groups and factors.
OptimizerContext auto_context(OptimizerContext context) {
  context.rate.rule = "constant";
  if (!context.rate.rule_options.rate) context.rate.rule_options.rate = 1;
  context.rate.schedule = rate::Schedule::constant;
  return context;
}

OptimizerContext auto_context(Optimizer::Groups groups, std::shared_ptr<Tap> tap, const AutoOptions& options) {
  OptimizerContext context{.info = auto_info(), .groups = std::move(groups), .tap = std::move(tap)};
  context.rate.schedule_steps = options.total_steps;
  context.defaults = options.defaults;
  context.buffers = options.buffers;
  return context;
}

AutoOptions with_buffers(AutoOptions options, const torch::nn::Module& model) {
  options.buffers = model.buffers();
  return options;
}

std::uint64_t weight_tensors(const std::vector<at::Tensor>& parameters) {
  const auto count = std::count_if(parameters.begin(), parameters.end(),
                                   [](const at::Tensor& one) { return one.requires_grad() && one.dim() >= 2; });
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(count));
}

}  // namespace

namespace optimizer {
Entry automatic() { return entry<Auto>(auto_info(), "constant"); }
}  // namespace optimizer

Auto::Auto(OptimizerContext context) : Auto(std::move(context), rate::AutoParts{}) {}

Auto::Auto(OptimizerContext context, const rate::AutoParts& parts)
    : Optimizer(auto_context(context)),
      buffers_(context.buffers),
      rule_(
          {.total_steps = context.rate.schedule_steps, .weight_tensors = weight_tensors(parameters()), .parts = parts}),
      average_(context.rate.schedule_steps == 0) {
  controller().tap().want_head_constant(true);
}

Auto::Auto(Groups groups, std::shared_ptr<Tap> tap, const AutoOptions& options)
    : Auto(auto_context(std::move(groups), std::move(tap), options), options.parts) {}

Auto::Auto(const torch::nn::Module& model, std::shared_ptr<Tap> tap, AutoOptions options)
    : Auto(Groups{model.parameters()}, std::move(tap), with_buffers(std::move(options), model)) {}

std::vector<at::Tensor> Auto::parameters() const {
  std::vector<at::Tensor> all;
  for (const auto& group : param_groups()) all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

void Auto::expect_passes(const std::vector<OptimizerStep>& all, const HeadReading& head) {
  const std::int64_t batches = controller().tap().reading().batches;
  if (all.empty() || (head.forward > 0 && head.backward == 0)) {
    throw Error(Fault::usage, "there was no backward pass since the last step; call loss.backward() before step(loss)");
  }
  if (batches > 0 && batches == batches_) {
    throw Error(Fault::usage, "there was no forward pass in training mode since the last step");
  }
  batches_ = batches;
}

// With several processes each has the gradients of all, and its own examples' part of the head's constant.
std::optional<rate::AutoNorms> Auto::norms(const std::vector<OptimizerStep>& all, const HeadReading& head) const {
  if (!rule_.wants_norms()) return {};
  double gradient = 0, matrices = 0;
  for (const OptimizerStep& one : all) {
    const double sum = optimizer::sum_of_magnitudes(one.parameter.grad());
    gradient += sum;
    if (one.parameter.dim() >= 2) matrices += sum;
  }
  const bool measured = head.weight.defined() && head.weight.grad().defined();
  std::array<double, 3> largest = {gradient, matrices, measured ? optimizer::sum_of_magnitudes(head.weight.grad()) : 0};
  std::array<double, 2> sums = {head.constant, static_cast<double>(head.backward)};
  if (Communicator* const communicator = controller().communicator()) {
    for (double& norm : largest) norm = std::isfinite(norm) ? norm : std::numeric_limits<double>::infinity();
    communicator->maximum(largest);
    communicator->sum(std::span<double>(sums));
  }
  rate::AutoNorms norms{.gradient = largest[0], .matrices = largest[1], .head_gradient = largest[2]};
  if (sums[1] > 0) norms.head_constant = sums[0];
  return norms;
}

void Auto::begin_updates(const std::vector<OptimizerStep>& all) {
  const double value = loss();
  Tap& tap = controller().tap();
  const HeadReading head = tap.take_head();
  expect_passes(all, head);
  if (kept_.empty()) kept_ = {start(), start()};
  decision_ = rule_.observe(value, norms(all, head));
  tap.want_head_constant(rule_.wants_norms());
  remark_ = rule_.steps() == 1 && decision_.reason.empty() ? rule_.introduction() : decision_.reason;
  if (decision_.weights == rate::AutoDecision::Weights::step) return;
  const Kept back = kept_[decision_.weights == rate::AutoDecision::Weights::to_start ? 0 : 1];
  put_back(back);
  kept_ = {kept_[0], back};
}

void Auto::update(const OptimizerStep& step) {
  if (decision_.weights != rate::AutoDecision::Weights::step) return;
  const at::Tensor &parameter = step.parameter, &gradient = step.gradient;
  ParameterState& state = step.state;
  const auto t = static_cast<double>(state.step);
  const at::Tensor& average = optimizer::average_into(state.zeros("average", parameter), gradient, kBeta1);
  const at::Tensor& squares = optimizer::average_squares_into(state.zeros("squares", parameter), gradient, kBeta2);
  const at::Tensor ahead =
      (average * (kBeta1 / (1 - std::pow(kBeta1, t + 1)))).add_(gradient, (1 - kBeta1) / (1 - std::pow(kBeta1, t)));
  parameter.addcdiv_(ahead, optimizer::root(squares, 1 - std::pow(kBeta2, t), kEpsilon),
                     -decision_.rate * step.options.lr());
  state.zeros("mean", parameter).lerp_(parameter, (1 + kLate) / (t + kLate));
}

void Auto::end_updates() {
  if (!decision_.keep) return;
  if (kept_.size() > 2) kept_.erase(kept_.begin() + 1);
  kept_.push_back(now());
}

at::Tensor Auto::evaluation_weights(const at::Tensor& parameter, const ParameterState& state) const {
  const auto mean = state.tensors.find("mean");
  return average_ && mean != state.tensors.end() ? mean->second : parameter;
}

Auto::Kept Auto::start() const {
  Kept kept;
  for (const at::Tensor& parameter : parameters()) kept.parameters.push_back({.weights = parameter.detach().clone()});
  for (const at::Tensor& buffer : buffers_) kept.buffers.push_back(buffer.clone());
  return kept;
}

Auto::Kept Auto::now() const {
  Kept kept = start();
  auto one = kept.parameters.begin();
  for (const at::Tensor& parameter : parameters()) {
    const auto found = states().find(parameter.unsafeGetTensorImpl());
    if (found != states().end() && found->second.step > 0) {
      one->average = found->second.tensors.at("average").clone();
      one->squares = found->second.tensors.at("squares").clone();
      one->steps = found->second.step;
    }
    ++one;
  }
  return kept;
}

void Auto::put_back(const Kept& kept) {
  auto one = kept.parameters.begin();
  for (const at::Tensor& parameter : parameters()) {
    parameter.copy_(one->weights);
    const auto found = states().find(parameter.unsafeGetTensorImpl());
    if (found != states().end()) {
      found->second = {.step = one->steps};
      if (one->steps > 0) {
        found->second.tensors = {
            {"average", one->average.clone()}, {"squares", one->squares.clone()}, {"mean", one->weights.clone()}};
      }
    }
    ++one;
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(kept.buffers[i]);
}

OptimizerSnapshot Auto::own_state() const {
  OptimizerSnapshot own;
  nlohmann::json steps = nlohmann::json::array();
  const auto add = [&](std::size_t copy, const char* kind, std::size_t number, const at::Tensor& tensor) {
    if (tensor.defined()) own.tensors.emplace_back(fmt::format("{}.{}.{}", copy, kind, number), tensor);
  };
  for (std::size_t copy = 0; copy < kept_.size(); ++copy) {
    steps.push_back(nlohmann::json::array());
    for (std::size_t i = 0; i < kept_[copy].parameters.size(); ++i) {
      const Kept::Parameter& one = kept_[copy].parameters[i];
      add(copy, "weights", i, one.weights);
      add(copy, "average", i, one.average);
      add(copy, "squares", i, one.squares);
      steps.back().push_back(one.steps);
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) add(copy, "buffer", i, kept_[copy].buffers[i]);
  }
  own.json = nlohmann::json{{"rule", rule_.save()}, {"average", average_}, {"kept", steps}}.dump();
  return own;
}

std::function<void()> Auto::own_state_from(const OptimizerSnapshot& saved) {
  const nlohmann::json json = parse_json(saved.json, "the saved state of the automatic optimizer");
  const auto damaged = [] { throw Error(Fault::data, "the saved state of the automatic optimizer is damaged"); };
  rate::Auto rule(rule_.options());
  rule.load(json.at("rule").get<std::string>());
  const std::map<std::string, at::Tensor> tensors(saved.tensors.begin(), saved.tensors.end());
  const std::vector<at::Tensor> all = parameters();
  const auto read = [&](std::size_t copy, const char* kind, std::size_t number, const at::Tensor& like) {
    const auto found = tensors.find(fmt::format("{}.{}.{}", copy, kind, number));
    if (found == tensors.end()) damaged();
    return checked_copy(found->second, like);
  };
  std::vector<Kept> kept(json.at("kept").size());
  if (kept.size() > 3 || kept.size() == 1 || kept.empty() != (rule.steps() == 0)) damaged();
  for (std::size_t copy = 0; copy < kept.size(); ++copy) {
    const nlohmann::json& steps = json.at("kept").at(copy);
    if (steps.size() != all.size()) damaged();
    for (std::size_t i = 0; i < all.size(); ++i) {
      Kept::Parameter& one = kept[copy].parameters.emplace_back();
      if (!steps.at(i).is_number_unsigned()) damaged();
      one = {.weights = read(copy, "weights", i, all[i]), .steps = steps.at(i).get<std::int64_t>()};
      if (one.steps == 0) continue;
      one.average = read(copy, "average", i, all[i]);
      one.squares = read(copy, "squares", i, all[i]);
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      kept[copy].buffers.push_back(read(copy, "buffer", i, buffers_[i]));
  }
  return [this, rule, kept, average = json.at("average").get<bool>()] {
    rule_ = rule;
    kept_ = kept;
    average_ = average;
    batches_ = 0;
    controller().tap().take_head();
    controller().tap().want_head_constant(rule_.wants_norms());
  };
}

}  // namespace lipschitzlr::nn

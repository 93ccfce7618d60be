#include "lipschitzlr/nn/optimizer.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <torch/serialize/archive.h>

#include <charconv>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/step_helpers.hpp"

namespace lipschitzlr::nn {
namespace {

using nlohmann::json;

constexpr const char* kArchive = "lipschitzlr";
constexpr std::string_view kOwn = "own.";  // before the names of own_state()

[[noreturn]] void refuse_state(const std::string& reason) {
  throw Error(Fault::data, "the saved state of the optimizer can't be used: " + reason);
}

OptimizerOptions& options_of(torch::optim::OptimizerParamGroup& group) {
  auto* const own = dynamic_cast<OptimizerOptions*>(&group.options());
  if (own == nullptr) throw Error(Fault::usage, "the options of a parameter group must be OptimizerOptions");
  return *own;
}

// Takes "17." off the front.
std::size_t take_index(std::string_view& name, std::size_t count) {
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (fault != std::errc() || end == name.data() + name.size() || *end != '.' || index >= count) {
    refuse_state("it has tensors of parameters that are not there");
  }
  name.remove_prefix(static_cast<std::size_t>(end - name.data()) + 1);
  return index;
}

json to_json(const OptimizerOptions& options) {
  return {{"weight_decay", options.weight_decay()},
          {"scale", options.scale()},
          {"bias_correction", options.bias_correction() ? json(*options.bias_correction()) : json()},
          {"settings", options.settings()}};
}

double option_from(const json& value) {
  if (!value.is_number() || !(value.get<double>() >= 0)) refuse_state("an option is no number of 0 or more");
  return value.get<double>();
}

OptimizerOptions options_from(const json& saved, const OptimizerInfo& info) {
  OptimizerOptions options;
  options.weight_decay(option_from(saved.at("weight_decay"))).scale(option_from(saved.at("scale")));
  if (!saved.at("bias_correction").is_null()) options.bias_correction(saved.at("bias_correction").get<bool>());
  return options.settings(completed_settings(info, saved.at("settings").get<OptimizerSettings>()));
}

}  // namespace

namespace optimizer {

at::Tensor loss_of(const std::function<at::Tensor()>& closure) {
  if (!closure) return {};
  const at::AutoGradMode with_gradients(true);
  return closure();
}

}  // namespace optimizer

double OptimizerOptions::at(const std::string& setting) const {
  const auto found = settings().find(setting);
  if (found == settings().end()) throw Error(Fault::usage, fmt::format("a parameter group has no {}", setting));
  return found->second;
}

at::Tensor& ParameterState::zeros(const std::string& name, const at::Tensor& like) {
  at::Tensor& tensor = tensors[name];
  if (!tensor.defined()) tensor = at::zeros_like(like);
  return tensor;
}

Optimizer::Optimizer(OptimizerContext context)
    : torch::optim::Optimizer(std::move(context.groups),
                              std::make_unique<OptimizerOptions>(context.defaults.settings(
                                  completed_settings(context.info, context.defaults.settings())))),
      info_(std::move(context.info)),
      controller_(*this, std::move(context.tap), std::move(context.rate), std::move(context.buffers)) {
  for (auto& group : param_groups_) {
    OptimizerOptions& options = options_of(group);
    options.settings(completed_settings(info_, options.settings()));
  }
}

// The parameters that have a gradient, with the counts of their steps moved on. A frozen one has none.
std::vector<OptimizerStep> Optimizer::begin_step() {
  std::vector<OptimizerStep> all;
  for (auto& group : param_groups_) {
    const OptimizerOptions& options = options_of(group);
    const double decay = decays_gradient() ? options.weight_decay() : 0;
    for (const at::Tensor& parameter : group.params()) {
      const at::Tensor& gradient = parameter.grad();
      if (!gradient.defined() || gradient.numel() == 0) continue;
      if (gradient.is_sparse()) throw Error(Fault::usage, "sparse gradients are not supported");
      ParameterState& state = states_[parameter.unsafeGetTensorImpl()];
      ++state.step;
      all.push_back({parameter, decay == 0 ? gradient : gradient.add(parameter, decay), state, options});
    }
  }
  return all;
}

at::Tensor Optimizer::step(LossClosure closure) {
  at::Tensor loss = optimizer::loss_of(closure);
  loss_.reset();
  if (loss.defined()) loss_ = loss.item<double>();
  take_step();
  return loss;
}

void Optimizer::step(double loss) {
  loss_ = loss;
  take_step();
}

void Optimizer::take_step() {
  const at::NoGradGuard no_grad;
  controller_.begin_step();
  const std::vector<OptimizerStep> all = begin_step();
  begin_updates(all);
  for (const OptimizerStep& one : all) update(one);
  end_updates();
  controller_.end_step();
}

double Optimizer::loss() const {
  if (loss_) return *loss_;
  throw Error(Fault::usage,
              fmt::format("{} needs the loss of every step: call step(loss) or give step() a closure", info_.name));
}

double& Optimizer::number(const std::string& name, double start) {
  return numbers_.try_emplace(name, start).first->second;
}

std::function<void()> Optimizer::own_state_from(const OptimizerSnapshot& saved) {
  if (!saved.json.empty() || !saved.tensors.empty()) refuse_state("it has more than this optimizer remembers");
  return [] {};
}

// In the memory format of the parameter: the last bits depend on it.
at::Tensor Optimizer::checked_copy(const at::Tensor& saved, const at::Tensor& like) {
  if (saved.dim() == 0 && at::isFloatingType(saved.scalar_type())) return saved.clone();
  if (saved.sizes() != like.sizes() || saved.scalar_type() != like.scalar_type()) {
    refuse_state("its tensors have other shapes than the parameters");
  }
  return at::empty_like(like, like.options().requires_grad(false)).copy_(saved);
}

OptimizerSnapshot Optimizer::snapshot() const {
  OptimizerSnapshot snapshot;
  json groups = json::array();
  for (std::size_t g = 0; g < param_groups_.size(); ++g) {
    json group = to_json(dynamic_cast<const OptimizerOptions&>(param_groups_[g].options()));
    group["steps"] = json::array();
    for (std::size_t p = 0; p < param_groups_[g].params().size(); ++p) {
      const auto found = states_.find(param_groups_[g].params()[p].unsafeGetTensorImpl());
      group["steps"].push_back(found == states_.end() ? 0 : found->second.step);
      if (found == states_.end()) continue;
      for (const auto& [name, tensor] : found->second.tensors) {
        if (tensor.defined()) snapshot.tensors.emplace_back(fmt::format("{}.{}.{}", g, p, name), tensor);
      }
    }
    groups.push_back(std::move(group));
  }
  const OptimizerSnapshot own = own_state();
  for (const auto& [name, tensor] : own.tensors) snapshot.tensors.emplace_back(std::string(kOwn) + name, tensor);
  snapshot.json = json{{"optimizer", info_.name},
                       {"groups", groups},
                       {"own", own.json},
                       {"numbers", numbers_},
                       {"rate", parse_json(controller_.save(), "")}}
                      .dump();
  return snapshot;
}

void Optimizer::restore(const OptimizerSnapshot& snapshot) try {
  const json saved = parse_json(snapshot.json, "the saved state of the optimizer");
  if (saved.at("optimizer") != info_.name) {
    refuse_state(fmt::format("it is of another optimizer than {}", info_.name));
  }
  if (saved.at("groups").size() != param_groups_.size()) refuse_state("it has another number of parameter groups");
  std::vector<OptimizerOptions> options;
  std::unordered_map<at::TensorImpl*, ParameterState> states;
  for (const auto& group : param_groups_) {
    const json& from = saved.at("groups").at(options.size());
    options.push_back(options_from(from, info_));
    if (from.at("steps").size() != group.params().size()) refuse_state("it has another number of parameters");
    for (std::size_t p = 0; p < group.params().size(); ++p) {
      const json& steps = from.at("steps").at(p);
      if (!steps.is_number_unsigned() || steps.get<std::uint64_t>() > 1ull << 62)
        refuse_state("a count of steps is none");
      if (steps != 0) states[group.params()[p].unsafeGetTensorImpl()].step = steps.get<std::int64_t>();
    }
  }
  OptimizerSnapshot own{.json = saved.value("own", std::string())};  // older states have none
  for (const auto& [path, tensor] : snapshot.tensors) {
    std::string_view name = path;
    if (name.starts_with(kOwn)) {
      own.tensors.emplace_back(name.substr(kOwn.size()), tensor);
      continue;
    }
    const auto& group = param_groups_[take_index(name, param_groups_.size())];
    const at::Tensor& parameter = group.params()[take_index(name, group.params().size())];
    const auto state = states.find(parameter.unsafeGetTensorImpl());
    if (state == states.end()) refuse_state("it has tensors of a parameter without steps");
    state->second.tensors[std::string(name)] = checked_copy(tensor, parameter);
  }
  std::map<std::string, double> numbers = saved.value("numbers", decltype(numbers_){});  // older states have none
  const std::function<void()> take_own = own_state_from(own);
  controller_.load(saved.at("rate").dump());  // last, of what may fail
  states_ = std::move(states);
  numbers_ = std::move(numbers);
  take_own();
  for (std::size_t g = 0; g < options.size(); ++g) options_of(param_groups_[g]) = options[g];
} catch (const json::exception&) {
  refuse_state("it is damaged");
}

void Optimizer::save(torch::serialize::OutputArchive& archive) const {
  const OptimizerSnapshot all = snapshot();
  archive.write(kArchive, c10::IValue(all.json));
  for (const auto& [name, tensor] : all.tensors) archive.write(name, tensor, true);
}

void Optimizer::load(torch::serialize::InputArchive& archive) {
  c10::IValue text;
  if (!archive.try_read(kArchive, text) || !text.isString())
    refuse_state("the archive holds no state of a lipschitzlr optimizer");
  OptimizerSnapshot all{.tensors = {}, .json = text.toStringRef()};
  for (const std::string& name : archive.keys()) {
    if (name != kArchive) archive.read(name, all.tensors.emplace_back(name, at::Tensor()).second, true);
  }
  restore(all);
}

}  // namespace lipschitzlr::nn

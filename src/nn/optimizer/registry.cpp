#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/registry_entry.hpp"

namespace lipschitzlr::nn {
namespace optimizer {

#define LIPSCHITZLR_OPTIMIZER(name) Entry name();
#include "nn/optimizer/list.inc"
#undef LIPSCHITZLR_OPTIMIZER

namespace {

const std::vector<Entry>& entries() {
#define LIPSCHITZLR_OPTIMIZER(name) name(),
  static const std::vector<Entry> list = {
#include "nn/optimizer/list.inc"
  };
#undef LIPSCHITZLR_OPTIMIZER
  return list;
}

// Empty when the value is in range, else what was expected.
const char* complaint(SettingRange range, double value) {
  const bool whole = std::isfinite(value) && value == std::floor(value);
  switch (range) {
    case SettingRange::share:
      return value >= 0 && value < 1 ? "" : "a number from 0 to below 1";
    case SettingRange::positive:
      return value > 0 && std::isfinite(value) ? "" : "a number above 0";
    case SettingRange::not_negative:
      return value >= 0 && std::isfinite(value) ? "" : "a number of 0 or more";
    case SettingRange::count:
      return whole && value >= 1 && value <= 1000 ? "" : "a whole number from 1 to 1000";
    case SettingRange::yes_no:
      return value == 0 || value == 1 ? "" : "0 for no or 1 for yes";
  }
  return "another number";
}

std::string names_of(const std::vector<OptimizerSetting>& settings) {
  std::vector<std::string> names;
  for (const OptimizerSetting& setting : settings) names.push_back(setting.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// Throws Error (usage) that lists the names when there is none of that name.
const Entry& entry_of(const std::string& name) {
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry;
  }
  throw Error(Fault::usage,
              fmt::format("there is no optimizer \"{}\"; known are {}", name, fmt::join(optimizer_names(), ", ")));
}

// A rate by hand, in place of a rule that computes one.
ControllerOptions with_constant_rate(ControllerOptions options, double rate) {
  options.rule = "constant";
  options.rule_options.rate = rate;
  options.rule_options.first_rate.reset();
  return options;
}

// Two groups: with the training's weight decay and without.
Optimizer::Groups decay_groups(const TrainerOptions& options, const Network& network, OptimizerOptions base) {
  const std::vector<at::Tensor> penalized = network.penalized();
  const auto decays = [&](const at::Tensor& parameter) {
    if (!options.decay_some_only) return true;
    return std::any_of(penalized.begin(), penalized.end(),
                       [&](const at::Tensor& other) { return other.is_same(parameter); });
  };
  std::vector<at::Tensor> decayed, free;
  for (const at::Tensor& parameter : network.parameters()) (decays(parameter) ? decayed : free).push_back(parameter);
  Optimizer::Groups groups;
  const auto add = [&](std::vector<at::Tensor> chosen, double decay) {
    if (!chosen.empty()) {
      groups.emplace_back(std::move(chosen), std::make_unique<OptimizerOptions>(base.weight_decay(decay)));
    }
  };
  add(std::move(decayed), options.weight_decay);
  add(std::move(free), 0);
  return groups;
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const TrainerOptions& options, const Network& network) {
  const Entry& entry = entry_of(options.optimizer);
  const bool baseline = options.policy == Policy::baseline;
  if (!baseline && entry.rule == nullptr) {
    throw Error(Fault::usage, fmt::format("{} has step sizes of its own, for which no rate is computed; it goes with "
                                          "--policy baseline or grid",
                                          entry.info.name));
  }
  const bool automatic = entry.info.name == "auto";
  if (automatic && options.policy != Policy::adaptive) {
    throw Error(Fault::usage, "auto computes its rate by itself; it goes with --policy adaptive");
  }
  OptimizerContext context{.info = entry.info, .groups = {}, .tap = network.head(), .rate = options.controller};
  context.defaults.bias_correction(options.correct_averages).settings(options.settings);
  context.groups = decay_groups(options, network, context.defaults);
  context.rate.announces_epochs = true;
  if (automatic) {
    context.rate = with_constant_rate(context.rate, 1);  // times its own
  } else if (baseline) {
    context.rate =
        with_constant_rate(context.rate, options.baseline_rate > 0 ? options.baseline_rate : entry.info.rate);
  } else {
    context.rate.rule = entry.rule;
    if (options.policy == Policy::fixed) context.rate.rule_options.fixed = true;
  }
  if (automatic || options.buffers_in_weight_norm) context.buffers = network.buffers();
  return entry.make(std::move(context));
}

}  // namespace optimizer

std::vector<OptimizerInfo> optimizers() {
  std::vector<OptimizerInfo> list;
  for (const optimizer::Entry& entry : optimizer::entries()) list.push_back(entry.info);
  return list;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const optimizer::Entry& entry : optimizer::entries()) names.push_back(entry.info.name);
  return names;
}

OptimizerInfo optimizer_info(const std::string& name) { return optimizer::entry_of(name).info; }

double default_rate(const std::string& optimizer) { return optimizer::entry_of(optimizer).info.rate; }

OptimizerSettings completed_settings(const OptimizerInfo& info, const OptimizerSettings& given) {
  OptimizerSettings all;
  for (const OptimizerSetting& setting : info.settings) all[setting.name] = setting.value;
  for (const auto& [name, value] : given) {
    const auto found = all.find(name);
    if (found == all.end()) {
      throw Error(Fault::usage, fmt::format("the optimizer {} has no setting \"{}\"; its settings: {}", info.name, name,
                                            optimizer::names_of(info.settings)));
    }
    found->second = value;
  }
  for (const OptimizerSetting& setting : info.settings) {
    const double value = all[setting.name];
    const std::string expected = optimizer::complaint(setting.range, value);
    if (!expected.empty()) {
      throw Error(Fault::usage,
                  fmt::format("the setting {} of {} is {}; expected {}", setting.name, info.name, value, expected));
    }
  }
  return all;
}

std::unique_ptr<Optimizer> make_baseline(const std::string& name, Optimizer::Groups groups,
                                         const BaselineOptions& options) {
  const optimizer::Entry& entry = optimizer::entry_of(name);
  OptimizerContext context{.info = entry.info, .groups = std::move(groups)};
  context.rate = optimizer::with_constant_rate({}, options.rate.value_or(entry.info.rate));
  context.rate.schedule = options.schedule;
  context.rate.schedule_steps = options.schedule_steps;
  context.rate.warmup_steps = options.warmup_steps;
  context.defaults.weight_decay(options.weight_decay).settings(options.settings);
  return entry.make(std::move(context));
}

std::unique_ptr<Optimizer> make_baseline(const std::string& name, std::vector<at::Tensor> parameters,
                                         const BaselineOptions& options) {
  return make_baseline(name, Optimizer::Groups{std::move(parameters)}, options);
}

}  // namespace lipschitzlr::nn

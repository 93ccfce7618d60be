#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/entry.hpp"

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

}  // namespace

const Entry& entry_of(const std::string& name) {
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry;
  }
  throw Error(Fault::usage,
              fmt::format("there is no optimizer \"{}\"; known are {}", name, fmt::join(optimizer_names(), ", ")));
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

PeerOptions peer_options(const std::string& name, const OptimizerSettings& given) {
  const OptimizerInfo info = optimizer_info(name);
  return PeerOptions(info.rate).settings(completed_settings(info, given));
}

std::unique_ptr<PeerOptimizer> make_peer(const std::string& name, PeerOptimizer::Groups groups,
                                         const PeerOptions& defaults) {
  const optimizer::Entry& entry = optimizer::entry_of(name);
  if (!entry.make_peer) {
    throw Error(Fault::usage, fmt::format("{} is no optimizer with step sizes of its own", name));
  }
  return entry.make_peer(std::move(groups), defaults);
}

std::unique_ptr<PeerOptimizer> make_peer(const std::string& name, std::vector<at::Tensor> parameters,
                                         const PeerOptions& defaults) {
  return make_peer(name, PeerOptimizer::Groups{torch::optim::OptimizerParamGroup(std::move(parameters))}, defaults);
}

}  // namespace lipschitzlr::nn

#pragma once
// The optimizers a training can be asked for by name, as data: what `train --help`, the checks of its options and the
// documentation are made from. Each stands in a file of its own in src/nn/optimizer/ (see CONTRIBUTING.md).

#include <map>
#include <string>
#include <vector>

namespace lipschitzlr::nn {

enum class SettingRange { share, positive, not_negative, count, yes_no };  // [0, 1), > 0, >= 0, 1 2 3 ..., 0 or 1

// A number of an optimizer that can be set: beta1 of AMSGrad.
struct OptimizerSetting {
  std::string name;
  double value = 0;  // the default
  SettingRange range = SettingRange::not_negative;
  std::string meaning;
};

// Values of settings by name; what is not named keeps its default.
using OptimizerSettings = std::map<std::string, double>;

struct OptimizerInfo {
  std::string name;
  std::string summary = {};
  double rate = 0;            // the default of the policy baseline
  bool computed_rate = true;  // whether rates computed from Lipschitz constants go with it
  std::string paper = {};
  std::vector<OptimizerSetting> settings = {};
};

std::vector<OptimizerInfo> optimizers();
std::vector<std::string> optimizer_names();

// Throws Error (usage) that lists the names when there is none of that name.
OptimizerInfo optimizer_info(const std::string& name);
double default_rate(const std::string& optimizer);

// All settings of the optimizer, those given taken over. Throws Error (usage) naming one it has not or that is out of
// range.
OptimizerSettings completed_settings(const OptimizerInfo& info, const OptimizerSettings& given);

}  // namespace lipschitzlr::nn

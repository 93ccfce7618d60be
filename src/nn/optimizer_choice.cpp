#include "nn/optimizer_choice.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/entry.hpp"

namespace lipschitzlr::nn {

void ChosenOptimizer::step() {
  if (own_controller) own_controller->drive(*optimizer);
  optimizer->step();
}

ChosenOptimizer choose_optimizer(const TrainerOptions& options, Network& network) {
  const optimizer::Entry& entry = optimizer::entry_of(options.optimizer);
  completed_settings(entry.info, options.settings);
  const bool baseline = options.policy == Policy::baseline;
  if (!baseline && !entry.info.computed_rate) {
    throw Error(Fault::usage, fmt::format("{} has step sizes of its own, for which no rate is computed; it goes with "
                                          "--policy baseline or grid",
                                          entry.info.name));
  }
  optimizer::Parts parts{options, options.controller, network};
  parts.controller.rule = entry.rule;
  parts.controller.loss = {.kind = LossKind::multiclass, .classes = options.network_options.classes};
  if (options.policy == Policy::fixed) parts.controller.rule_options.fixed = true;
  if (baseline) {
    // A rule that is never fed keeps its first rate.
    parts.controller.rule_options.update = rate::Update::per_epoch;
    parts.controller.rule_options.first_rate = options.baseline_rate > 0 ? options.baseline_rate : entry.info.rate;
  }
  return entry.make(parts);
}

}  // namespace lipschitzlr::nn

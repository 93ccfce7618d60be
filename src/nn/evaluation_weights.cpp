#include "lipschitzlr/nn/evaluation_weights.hpp"

#include <ATen/core/grad_mode.h>

namespace lipschitzlr::nn {

EvaluationWeights::EvaluationWeights(Optimizer& optimizer) {
  const at::NoGradGuard no_grad;
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      const auto state = optimizer.states_.find(parameter.unsafeGetTensorImpl());
      if (state == optimizer.states_.end()) continue;
      const at::Tensor weights = optimizer.evaluation_weights(parameter, state->second);
      if (weights.is_same(parameter)) continue;
      trained_.emplace_back(parameter, parameter.clone());
      parameter.copy_(weights);
    }
  }
}

EvaluationWeights::~EvaluationWeights() {
  const at::NoGradGuard no_grad;
  for (const auto& [parameter, values] : trained_) parameter.copy_(values);
}

}  // namespace lipschitzlr::nn

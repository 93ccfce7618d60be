#include "lipschitzlr/nn/head.hpp"

namespace lipschitzlr::nn {

at::Tensor HeadImpl::forward(const at::Tensor& activations) {
  if (always_ || is_training()) tap_->observe(activations);
  at::Tensor outputs = LinearImpl::forward(activations);
  if (is_training() && tap_->wants_head_constant() && outputs.requires_grad()) measure_backward(activations, outputs);
  if (is_training() && tap_->wants_tight_constant() && outputs.requires_grad()) measure_tight(activations, outputs);
  return outputs;
}

void HeadImpl::measure_backward(const at::Tensor& activations, const at::Tensor& outputs) const {
  const at::Tensor norms = activations.detach().to(at::kDouble).abs().sum(1);
  ++tap_->head().forward;
  tap_->head().weight = weight;
  outputs.register_hook([tap = tap_, norms](const at::Tensor& gradient) {
    ++tap->head().backward;
    tap->head().constant += gradient.detach().to(at::kDouble).abs().sum(1).dot(norms).item<double>();
  });
}

void HeadImpl::measure_tight(const at::Tensor& activations, const at::Tensor& outputs) const {
  const at::Tensor norms = activations.detach().to(at::kDouble).square().sum(1).sqrt();
  outputs.register_hook([tap = tap_, norms](const at::Tensor& gradient) {
    tap->tight_constant() += gradient.detach().to(at::kDouble).square().sum(1).sqrt().dot(norms).item<double>();
  });
}

}  // namespace lipschitzlr::nn

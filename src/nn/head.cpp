#include "lipschitzlr/nn/head.hpp"

namespace lipschitzlr::nn {

at::Tensor HeadImpl::forward(const at::Tensor& activations) {
  if (always_ || is_training()) tap_->observe(activations);
  return LinearImpl::forward(activations);
}

}  // namespace lipschitzlr::nn

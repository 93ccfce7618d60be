#include "lipschitzlr/nn/training_loss.hpp"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/softmax.h>

namespace lipschitzlr::nn {
namespace {

constexpr double kKerasEpsilon = 1e-7;

// The other classes' terms are 0 times a logarithm, with no gradient either: only p_y is clipped.
at::Tensor clipped_losses(const at::Tensor& outputs, const at::Tensor& targets) {
  at::Tensor probabilities = at::softmax(outputs, 1);
  probabilities = probabilities / probabilities.sum(1, /*keepdim=*/true);  // as Keras does, whatever came before
  const at::Tensor own = probabilities.gather(1, targets.unsqueeze(1)).squeeze(1);
  return -at::clamp(own, kKerasEpsilon, 1 - kKerasEpsilon).log();
}

at::Tensor losses_of_one(TrainingLoss loss, const at::Tensor& outputs, const at::Tensor& targets) {
  const at::Tensor numbers = targets.to(outputs.scalar_type());
  if (loss == TrainingLoss::squared_error) return (outputs - numbers).square() / 2;
  return at::binary_cross_entropy_with_logits(outputs, numbers, {}, {}, at::Reduction::None);
}

}  // namespace

at::Tensor training_loss(TrainingLoss loss, const at::Tensor& outputs, const at::Tensor& targets,
                         at::Reduction::Reduction reduction) {
  if (loss == TrainingLoss::cross_entropy) return at::cross_entropy_loss(outputs, targets, {}, reduction);
  const at::Tensor losses =
      takes_classes(loss) ? clipped_losses(outputs, targets) : losses_of_one(loss, outputs.select(1, 0), targets);
  return reduction == at::Reduction::Sum ? losses.sum() : losses.mean();
}

}  // namespace lipschitzlr::nn

#pragma once
// The loss that a network is trained with and judged by, from the outputs of its last layer:
//   cross_entropy          logsumexp(z) - z_y
//   clipped_cross_entropy  -log(clip(p_y, e, 1 - e)), p = softmax(z), e = 1e-7: what Keras 2.2 computes from the
//                          probabilities of a softmax layer, and thus what made the paper's tables
//   binary_cross_entropy   log(1 + exp(z)) - y z, of one output, the log-odds of the second of two classes
//   squared_error          (z - y)^2 / 2, of one output and a number
// Beyond its ends a clipped probability has no gradient. An image with p_y < 1e-7 costs 16.118 and teaches nothing,
// which lets a training with a large rate survive images that it has lost. In float32 the upper end, 1 - 1e-7, is
// 1 - 2^-23.

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>

namespace lipschitzlr::nn {

enum class TrainingLoss { cross_entropy, clipped_cross_entropy, binary_cross_entropy, squared_error };

// Whether there is an output per class and the targets are classes; else there is one output and a number per example.
inline bool takes_classes(TrainingLoss loss) {
  return loss == TrainingLoss::cross_entropy || loss == TrainingLoss::clipped_cross_entropy;
}

// outputs: a row per example. targets: the classes, int64, or numbers of any type; of two classes 0 and 1. reduction:
// Mean or Sum over the rows.
at::Tensor training_loss(TrainingLoss loss, const at::Tensor& outputs, const at::Tensor& targets,
                         at::Reduction::Reduction reduction = at::Reduction::Mean);

}  // namespace lipschitzlr::nn

#pragma once
// The norms of the penultimate activations A (m x d, what the last linear layer receives) of one mini-batch, and the
// Lipschitz constants of a network's loss that follow from them (paper, section 5): K_z = ||A||_F.

#include <ATen/core/Tensor.h>

#include <functional>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/bound/loss.hpp"
#include "lipschitzlr/rate/second_moment.hpp"

namespace lipschitzlr::nn {

struct PenultimateNorms {
  double frobenius = 0;         // K_z = ||A||_F
  double row_norm_sum = 0;      // sum ||a_i||
  double square_frobenius = 0;  // ||A o A||_F, of the elementwise squares
  Index rows = 0;               // m
  double sum = 0;               // of the entries,
  double cube_sum = 0;          // and of their cubes
  Index columns = 0;            // d
  // Of a regression: of the batch's outputs, K_a of the paper, and of its targets, ||y||. See Tap::observe_numbers.
  double output_norm = 0, target_norm = 0;

  rate::ActivationNorms activations() const {
    return {frobenius, square_frobenius, sum, cube_sum, static_cast<double>(rows) * static_cast<double>(columns)};
  }
};

// activations is m x d, float or double, on any device and with any strides; sums are in double, and nothing is
// recorded for the backward pass. Throws Error (usage) when it is not a matrix of floating-point numbers.
PenultimateNorms measure_penultimate(const at::Tensor& activations);

// The loss behind the last layer, a mean over the batch, as the constant of bound/loss.hpp that it gives. A loss is
// made by one of these functions, so that none of its numbers can be left out.
using Loss = std::function<bound::Constant(bound::ConstantKind, const PenultimateNorms&)>;
Loss cross_entropy(Index classes);
Loss binary_cross_entropy();
// Half the squared distance: K_a, the largest norm of a batch's outputs, and the largest norm of a batch's targets.
Loss squared_error(double output_bound, double target_norm);
Loss squared_error();  // with both as they are measured

}  // namespace lipschitzlr::nn

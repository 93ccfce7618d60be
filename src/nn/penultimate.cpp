#include "lipschitzlr/nn/penultimate.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::nn {

PenultimateNorms measure_penultimate(const at::Tensor& activations) {
  if (!activations.defined() || activations.dim() != 2) {
    throw Error(Fault::usage,
                fmt::format("penultimate activations must be a matrix, one row per example, not {}; "
                            "flatten what comes before the last layer",
                            activations.defined() ? fmt::format("a tensor of {} dimensions", activations.dim())
                                                  : "an undefined tensor"));
  }
  if (!at::isFloatingType(activations.scalar_type())) {
    throw Error(Fault::usage, fmt::format("penultimate activations must be floating-point numbers, not {}",
                                          c10::toString(activations.scalar_type())));
  }
  const at::NoGradGuard no_grad;
  const at::Tensor entries = activations.detach().to(at::kDouble), squares = entries.square();
  const at::Tensor row_squares = squares.sum(1);
  PenultimateNorms norms;
  norms.frobenius = row_squares.sum().sqrt().item<double>();
  norms.row_norm_sum = row_squares.sqrt().sum().item<double>();
  norms.square_frobenius = squares.square().sum().sqrt().item<double>();
  norms.rows = activations.size(0);
  norms.sum = entries.sum().item<double>();
  norms.cube_sum = squares.flatten().dot(entries.flatten()).item<double>();
  norms.columns = activations.size(1);
  return norms;
}

Loss cross_entropy(Index classes) {
  return [=](bound::ConstantKind variant, const PenultimateNorms& norms) {
    return bound::multiclass_network(variant, norms.frobenius, norms.row_norm_sum, norms.rows, classes);
  };
}

Loss binary_cross_entropy() {
  return [](bound::ConstantKind variant, const PenultimateNorms& norms) {
    return bound::binary_network(variant, norms.frobenius, norms.row_norm_sum, norms.rows);
  };
}

Loss squared_error() {
  return [](bound::ConstantKind variant, const PenultimateNorms& norms) {
    return bound::network_regression(variant, norms.output_norm, norms.target_norm, norms.frobenius, norms.rows);
  };
}

Loss squared_error(double output_bound, double target_norm) {
  return [=](bound::ConstantKind variant, const PenultimateNorms& norms) {
    return bound::network_regression(variant, output_bound, target_norm, norms.frobenius, norms.rows);
  };
}

}  // namespace lipschitzlr::nn

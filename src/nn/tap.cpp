#include "lipschitzlr/nn/tap.hpp"

#include <algorithm>

namespace lipschitzlr::nn {

void Tap::observe(const at::Tensor& activations) {
  const PenultimateNorms norms = measure_penultimate(activations);
  if (target_ == nullptr) return add(norms);
  *target_ = norms;
}

void Tap::add(const PenultimateNorms& norms) {
  PenultimateNorms& largest = reading_.largest;
  const auto mean = [](const PenultimateNorms& of) {
    return of.rows == 0 ? 0 : of.row_norm_sum / static_cast<double>(of.rows);
  };
  const double largest_mean = std::max(mean(largest), mean(norms));
  largest.frobenius = std::max(largest.frobenius, norms.frobenius);
  largest.square_frobenius = std::max(largest.square_frobenius, norms.square_frobenius);
  largest.rows = std::max(largest.rows, norms.rows);
  largest.row_norm_sum = largest_mean * static_cast<double>(largest.rows);
  reading_.last = norms;
  ++reading_.batches;
}

}  // namespace lipschitzlr::nn

#include "lipschitzlr/nn/tap.hpp"

#include <algorithm>

namespace lipschitzlr::nn {

void Tap::observe(const at::Tensor& activations) {
  const PenultimateNorms norms = measure_penultimate(activations);
  if (target_ == nullptr) return add(norms);
  *target_ = norms;
}

void Tap::observe_numbers(const at::Tensor& outputs, const at::Tensor& targets) {
  const auto norm = [](const at::Tensor& values) { return values.detach().to(at::kDouble).norm().item<double>(); };
  PenultimateNorms& batch = target_ == nullptr ? reading_.last : *target_;
  batch.output_norm = norm(outputs);
  batch.target_norm = norm(targets);
  if (target_ == nullptr) include_numbers(batch);
}

void Tap::include_numbers(const PenultimateNorms& norms) {
  PenultimateNorms& largest = reading_.largest;
  largest.output_norm = std::max(largest.output_norm, norms.output_norm);
  largest.target_norm = std::max(largest.target_norm, norms.target_norm);
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
  include_numbers(norms);
  if (keeps_batches_) reading_.kept.push_back(norms);
  reading_.last = norms;
  ++reading_.batches;
}

}  // namespace lipschitzlr::nn

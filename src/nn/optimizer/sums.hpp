#pragma once
// Sums over the elements of tensors, in double precision and one by one, so that they depend neither on the number of
// threads nor on that of the processes.

#include <ATen/core/Tensor.h>

#include <cmath>
#include <numeric>

namespace lipschitzlr::nn::optimizer {

// Of two tensors of one shape.
inline double inner_product(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor left = a.to(at::kCPU, at::kDouble).contiguous(), right = b.to(at::kCPU, at::kDouble).contiguous();
  const auto* const begin = left.data_ptr<double>();
  return std::inner_product(begin, begin + left.numel(), right.data_ptr<double>(), 0.0);
}

inline double sum_of_squares(const at::Tensor& tensor) { return inner_product(tensor, tensor); }

inline double sum_of_magnitudes(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble).contiguous();
  const auto* const begin = values.data_ptr<double>();
  return std::accumulate(begin, begin + values.numel(), 0.0,
                         [](double sum, double value) { return sum + std::abs(value); });
}

}  // namespace lipschitzlr::nn::optimizer

#include "lipschitzlr/nn/step_check.hpp"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

namespace lipschitzlr::nn {
namespace {

constexpr double kRoundingOfBound = 1e-5;  // single precision: a bound that is met exactly is not exceeded

double norm_in_double(const at::Tensor& tensor) { return tensor.to(at::kDouble).norm().item<double>(); }

}  // namespace

StepCheck::StepCheck(Network& network) : network_(network), parameters_(network.parameters()) {
  const at::Tensor last = network.head()->weight;
  for (const Layer& layer : network.layers()) {
    const at::Tensor& weight = layer.tensors.front().second;
    if (layer.kind == LayerKind::batch_norm || weight.is_same(last)) continue;
    names_.push_back(layer.name);
    weights_.push_back(weight);
  }
  names_.emplace_back("head");
  weights_.push_back(last);
  for (const at::Tensor& parameter : parameters_) before_.push_back(parameter.detach().clone());
  take();
}

void StepCheck::before_step(const PenultimateNorms& norms, double tight) {
  const at::NoGradGuard no_grad;
  double largest = 0, last = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    largest = std::max(largest, last);
    last = weights_[i].grad().defined() ? norm_in_double(weights_[i].grad()) : 0;
    sums_.gradients[i].second += last;
  }
  sums_.last_largest += last >= largest ? 1 : 0;
  const Loss loss = cross_entropy(network_.head()->weight.size(0));
  const auto compare = [&](double constant, std::int64_t& over, double& share) {
    over += last > constant * (1 + kRoundingOfBound) ? 1 : 0;
    share += constant > 0 ? last / constant : 0;
  };
  compare(loss(bound::ConstantKind::published, norms).value, sums_.over_published, sums_.published);
  compare(loss(bound::ConstantKind::certified, norms).value, sums_.over_certified, sums_.certified);
  compare(tight, sums_.over_tight, sums_.tight);
  for (std::size_t i = 0; i < parameters_.size(); ++i) before_[i].copy_(parameters_[i]);
}

void StepCheck::after_step() {
  const at::NoGradGuard no_grad;
  double squares = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const double norm = norm_in_double(parameters_[i] - before_[i]);
    squares += norm * norm;
  }
  sums_.update += std::sqrt(squares);
  sums_.small_updates += std::sqrt(squares) <= 1 ? 1 : 0;
  ++sums_.steps;
}

CheckCounts StepCheck::take() {
  CheckCounts counts = sums_;
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, counts.steps));
  for (double* mean : {&counts.update, &counts.published, &counts.certified, &counts.tight}) *mean /= steps;
  for (auto& gradient : counts.gradients) gradient.second /= steps;
  sums_ = {};
  for (const std::string& name : names_) sums_.gradients.emplace_back(name, 0);
  return counts;
}

}  // namespace lipschitzlr::nn

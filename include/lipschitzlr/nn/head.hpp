#pragma once
// The last layer of a network, with a tap on it: a Linear that measures the activations it receives in every training
// forward pass, K_z = ||A||_F of the paper. Drop-in: declare Head where Linear stood, alone or in a Sequential.

#include <torch/nn/modules/linear.h>

#include <memory>

#include "lipschitzlr/nn/tap.hpp"

namespace lipschitzlr::nn {

class HeadImpl : public torch::nn::LinearImpl {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  // Linear's own, after the tap has seen the activations when the module is in training mode.
  at::Tensor forward(const at::Tensor& activations);
  const std::shared_ptr<Tap>& tap() const { return tap_; }
  // Whether to measure outside of training too: for the authors' separate pass.
  void measure_always(bool always) { always_ = always; }

 private:
  void measure_backward(const at::Tensor& activations, const at::Tensor& outputs) const;
  void measure_tight(const at::Tensor& activations, const at::Tensor& outputs) const;

  std::shared_ptr<Tap> tap_ = std::make_shared<Tap>(options.out_features());
  bool always_ = false;
};

class Head : public torch::nn::ModuleHolder<HeadImpl> {
 public:
  using torch::nn::ModuleHolder<HeadImpl>::ModuleHolder;
  // Whatever reads a tap can be given the head itself.
  operator std::shared_ptr<Tap>() const { return get()->tap(); }
};

}  // namespace lipschitzlr::nn

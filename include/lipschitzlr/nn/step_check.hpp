#pragma once
// What the paper assumes of a network in training, measured in every step (`train --check`):
//   the last layer has the largest gradient of all layers' weights (eq. int:1)
//   a step moves the weights by at most 1, ||w_t+1 - w_t|| <= 1
//   the gradient of the head's weights is at most the constant: as published, as certified (bound/loss.hpp) and the
//   tight one (nn/tap.hpp), which it can't exceed
// It changes nothing. It costs a copy of all parameters and a pass over them and over their gradients per step.

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "lipschitzlr/nn/check_counts.hpp"
#include "lipschitzlr/nn/network.hpp"

namespace lipschitzlr::nn {

class StepCheck {
 public:
  // The network must outlive the object.
  explicit StepCheck(Network& network);

  // After the backward pass; the norms and the tight constant are those of the whole batch.
  void before_step(const PenultimateNorms& norms, double tight);
  void after_step();
  CheckCounts take();  // the means so far; begins anew

 private:
  Network& network_;
  std::vector<std::string> names_;
  std::vector<at::Tensor> weights_;     // of convolutions and dense layers, the head's last
  std::vector<at::Tensor> parameters_;  // all
  std::vector<at::Tensor> before_;
  CheckCounts sums_;
};

}  // namespace lipschitzlr::nn

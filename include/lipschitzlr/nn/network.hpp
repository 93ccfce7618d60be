#pragma once
// A network of the paper: images, or rows of a table, in, scores of the classes or a number out. Its last layer is a
// Head, so that the penultimate activations are measured in passing; its layers can be listed in the order Keras would
// create them, which is how weights come in from elsewhere.

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "lipschitzlr/nn/head.hpp"
#include "lipschitzlr/nn/layer.hpp"

namespace lipschitzlr::nn {

class Network : public torch::nn::Module {
 public:
  // images is n x channels x height x width, in any memory format. Returns n x classes scores, before the softmax.
  virtual at::Tensor forward(at::Tensor images) = 0;
  virtual Head head() const = 0;

  // The weights an L2 penalty applies to in the authors' code; empty when there is none.
  virtual std::vector<at::Tensor> penalized() const { return {}; }

  // All layers with weights in the order they were made, which is the order Keras numbers them in.
  std::vector<Layer> layers() const;
};

// Parameters and buffers under their paths, in the order of the modules; batch counters are left out.
NamedTensors named_weights(const Network& network);

}  // namespace lipschitzlr::nn

#pragma once
// One layer of a network with its weights, as files of weights know it: apart from the network, so that a reader of
// such files needs no modules.

#include "lipschitzlr/nn/named_tensors.hpp"

namespace lipschitzlr::nn {

enum class LayerKind { convolution, batch_norm, dense };
std::string to_string(LayerKind kind);

// Tensors by the short names libtorch gives them: weight, bias, running_mean, running_var.
struct Layer {
  LayerKind kind;
  std::string name;  // its path in the module: "stage1.block0.conv1"
  NamedTensors tensors;
};

}  // namespace lipschitzlr::nn

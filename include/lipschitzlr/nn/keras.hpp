#pragma once
// Weights from a Keras HDF5 file (Keras 2 and tf.keras 2: of weights alone or of a whole model) into a network. Layers
// are matched in order by kind: the n-th convolution of the file goes to the n-th convolution of the network, and so
// on, where the order is that of creation, which Keras writes into the names (conv2d_1, conv2d_2, ...) and not into the
// file's order.

#include <string>
#include <vector>

#include "lipschitzlr/nn/layer.hpp"

namespace lipschitzlr::nn {

// What went where, one line each, for people to read.
struct KerasReport {
  std::vector<std::string> matched;            // "conv2d_1 -> stem.conv"
  std::vector<std::string> unmatched_file;     // in the file and harmlessly left out: "conv2d_1/bias: all 0, ..."
  std::vector<std::string> unmatched_network;  // not in the file and set to what that means: "stem.conv.bias: 0, ..."
};

// layers is in the order of creation. The tensors of the layers are overwritten in place and keep their memory format
// and precision; kernels are turned from Keras's order (height, width, in, out) to libtorch's (out, in, height, width).
// Throws Error (data) naming the file, the first layer that does not fit, both shapes and how many layers of each kind
// there are; nothing is written then.
KerasReport load_keras_weights(const std::string& path, const std::vector<Layer>& layers);

}  // namespace lipschitzlr::nn

#pragma once
// Options of all networks, apart from the networks themselves: needs no libtorch.

#include <cstdint>
#include <optional>
#include <string>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::nn {

// What "same" means for a 3x3 convolution of stride 2: TensorFlow pads 0 before and 1 after, PyTorch 1 and 1.
enum class Padding { tensorflow, symmetric };
std::string to_string(Padding padding);
Padding padding_from(const std::string& name);  // throws Error (usage)

// How dense layers, the head among them, begin; convolutions always He-normal. Keras's default is Glorot-uniform,
// U(-l, l) with l = sqrt(6/(fan_in + fan_out)), which the authors' CNN and DenseNets have; their ResNets name
// He-normal.
enum class DenseStart { he_normal, glorot };

struct NetworkOptions {
  Index channels = 3, height = 32, width = 32;  // of the images; a table's features are channels of one pixel
  Index classes = 10;                           // outputs; 1: a number, or the log-odds of one of two classes
  Padding padding = Padding::tensorflow;
  std::optional<double> batch_norm_epsilon = {};   // default: 1e-3 as Keras, DenseNet 1.1e-5
  std::optional<double> batch_norm_momentum = {};  // the weight of the past, as Keras counts it; default: 0.99
  DenseStart dense_start = DenseStart::he_normal;
  std::uint64_t seed = 1;  // of the start
};

}  // namespace lipschitzlr::nn

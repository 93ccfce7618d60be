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

struct NetworkOptions {
  Index channels = 3, height = 32, width = 32;  // of the images
  Index classes = 10;
  Padding padding = Padding::tensorflow;
  std::optional<double> batch_norm_epsilon = {};   // default: 1e-3 as Keras, DenseNet 1.1e-5
  std::optional<double> batch_norm_momentum = {};  // the weight of the past, as Keras counts it; default: 0.99
  std::uint64_t seed = 1;                          // of the He-normal start
};

}  // namespace lipschitzlr::nn

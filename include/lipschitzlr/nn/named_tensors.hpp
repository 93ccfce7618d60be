#pragma once
// Tensors under their names, in an order that means something: how weights travel between networks and files.

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace lipschitzlr::nn {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

}  // namespace lipschitzlr::nn

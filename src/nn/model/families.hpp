#pragma once
// The families of networks behind the names of registry.cpp.

#include "lipschitzlr/nn/models.hpp"

namespace lipschitzlr::nn {

std::shared_ptr<Network> make_resnet_v1(Index blocks_per_stage, const NetworkOptions& options);
std::shared_ptr<Network> make_resnet_v2(Index blocks_per_stage, const NetworkOptions& options);
std::shared_ptr<Network> make_densenet(Index layers_per_block, Index growth, Index first,
                                       const NetworkOptions& options);
std::shared_ptr<Network> make_mnist_cnn(const NetworkOptions& options);
std::shared_ptr<Network> make_perceptron(const std::vector<Index>& widths, const NetworkOptions& options);
std::shared_ptr<Network> make_softmax(const NetworkOptions& options);

}  // namespace lipschitzlr::nn

#pragma once
// The building blocks all networks share: convolution with TensorFlow's padding, batch norm with the options' numbers,
// the start.

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/nn/models.hpp"

namespace lipschitzlr::nn {

// A convolution whose output has ceil(size/stride) rows and columns ("same").
class SameConvolutionImpl : public torch::nn::Conv2dImpl {
 public:
  SameConvolutionImpl(Index in, Index out, Index kernel, Index stride, bool with_bias, Padding padding);
  at::Tensor forward(const at::Tensor& images);

 private:
  Index kernel_, stride_;
  bool by_size_;  // whether the padding depends on the image's size and is done apart
};
TORCH_MODULE(SameConvolution);

torch::nn::BatchNorm2d batch_norm_2d(Index channels, const NetworkOptions& options, double default_epsilon = 1e-3);
torch::nn::BatchNorm1d batch_norm_1d(Index features, const NetworkOptions& options);

// relu(norm(x)).
at::Tensor norm_relu(torch::nn::BatchNorm2d& norm, const at::Tensor& images);

// n x channels x height x width to n x channels: the mean over height and width.
at::Tensor pool_everything(const at::Tensor& images);

// n x channels x height x width to n x (height width channels), in the order Keras flattens.
at::Tensor flatten_channels_last(const at::Tensor& images);

// Weights of convolutions, and of dense layers unless the options say otherwise, as Keras's he_normal draws them:
// N(0, 2/fan_in) cut at two standard deviations and widened to keep its variance; biases 0.
void start_weights(torch::nn::Module& network, const NetworkOptions& options);

// The weights of all convolutions.
std::vector<at::Tensor> convolution_weights(const torch::nn::Module& network);

}  // namespace lipschitzlr::nn

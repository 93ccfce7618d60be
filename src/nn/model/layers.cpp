#include "nn/model/layers.hpp"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>

#include <cmath>

namespace lipschitzlr::nn {
namespace {

torch::nn::Conv2dOptions convolution_options(Index in, Index out, Index kernel, Index stride, bool bias, bool by_size) {
  torch::nn::Conv2dOptions options(in, out, kernel);
  options.stride(stride).bias(bias);
  if (!by_size) options.padding(kernel / 2);
  return options;
}

template <class Options>
Options batch_norm_options(Index features, const NetworkOptions& options, double default_epsilon) {
  return Options(features)
      .eps(options.batch_norm_epsilon.value_or(default_epsilon))
      .momentum(1 - options.batch_norm_momentum.value_or(0.99));
}

// TensorFlow's rule for one direction: what is missing to ceil(size/stride) windows, the larger half after.
std::pair<Index, Index> same_padding(Index size, Index kernel, Index stride) {
  const Index windows = (size + stride - 1) / stride;
  const Index missing = std::max<Index>(0, (windows - 1) * stride + kernel - size);
  return {missing / 2, missing - missing / 2};
}

// Of a normal distribution cut at two standard deviations.
constexpr double kCutDeviation = 0.87962566103423978;

void fill_he_normal(at::Tensor weight, Random& random) {
  const double fan_in = static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0));
  const double deviation = std::sqrt(2 / fan_in) / kCutDeviation;
  at::Tensor values = at::empty(weight.sizes(), at::kFloat);
  float* value = values.data_ptr<float>();
  for (Index i = 0; i < values.numel(); ++i) {
    double drawn = random.normal();
    while (std::abs(drawn) > 2) drawn = random.normal();
    value[i] = static_cast<float>(deviation * drawn);
  }
  weight.copy_(values);
}

void fill_glorot(at::Tensor weight, Random& random) {
  const double limit = std::sqrt(6 / static_cast<double>(weight.size(0) + weight.size(1)));
  at::Tensor values = at::empty(weight.sizes(), at::kFloat);
  float* value = values.data_ptr<float>();
  for (Index i = 0; i < values.numel(); ++i) value[i] = static_cast<float>(limit * (2 * random.uniform() - 1));
  weight.copy_(values);
}

}  // namespace

SameConvolutionImpl::SameConvolutionImpl(Index in, Index out, Index kernel, Index stride, bool with_bias,
                                         Padding padding)
    : Conv2dImpl(convolution_options(in, out, kernel, stride, with_bias,
                                     padding == Padding::tensorflow && stride > 1 && kernel > 1)),
      kernel_(kernel),
      stride_(stride),
      by_size_(padding == Padding::tensorflow && stride > 1 && kernel > 1) {}

at::Tensor SameConvolutionImpl::forward(const at::Tensor& images) {
  if (!by_size_) return Conv2dImpl::forward(images);
  const auto [top, bottom] = same_padding(images.size(2), kernel_, stride_);
  const auto [left, right] = same_padding(images.size(3), kernel_, stride_);
  return Conv2dImpl::forward(at::constant_pad_nd(images, {left, right, top, bottom}));
}

torch::nn::BatchNorm2d batch_norm_2d(Index channels, const NetworkOptions& options, double default_epsilon) {
  return torch::nn::BatchNorm2d(batch_norm_options<torch::nn::BatchNorm2dOptions>(channels, options, default_epsilon));
}

torch::nn::BatchNorm1d batch_norm_1d(Index features, const NetworkOptions& options) {
  return torch::nn::BatchNorm1d(batch_norm_options<torch::nn::BatchNorm1dOptions>(features, options, 1e-3));
}

at::Tensor norm_relu(torch::nn::BatchNorm2d& norm, const at::Tensor& images) { return norm(images).relu_(); }

at::Tensor pool_everything(const at::Tensor& images) { return images.mean({2, 3}); }

at::Tensor flatten_channels_last(const at::Tensor& images) {
  return images.permute({0, 2, 3, 1}).reshape({images.size(0), -1});
}

void start_weights(torch::nn::Module& network, const NetworkOptions& options) {
  const at::NoGradGuard no_grad;
  Random random(options.seed);
  const auto fill_dense = options.dense_start == DenseStart::glorot ? fill_glorot : fill_he_normal;
  for (const auto& module : network.modules(false)) {
    if (auto* convolution = module->as<torch::nn::Conv2dImpl>()) {
      fill_he_normal(convolution->weight, random);
      if (convolution->bias.defined()) convolution->bias.zero_();
    } else if (auto* dense = module->as<torch::nn::LinearImpl>()) {
      fill_dense(dense->weight, random);
      if (dense->bias.defined()) dense->bias.zero_();
    }
  }
}

std::vector<at::Tensor> convolution_weights(const torch::nn::Module& network) {
  std::vector<at::Tensor> weights;
  for (const auto& module : network.modules(false)) {
    if (auto* convolution = module->as<torch::nn::Conv2dImpl>()) weights.push_back(convolution->weight);
  }
  return weights;
}

}  // namespace lipschitzlr::nn

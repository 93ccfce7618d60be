// Networks without shortcuts: the paper's CNN for MNIST (table 3), a perceptron with ReLU layers, and softmax
// regression as a network of one layer, which starts at zero like the linear model.

#include <ATen/ops/dropout.h>
#include <ATen/ops/max_pool2d.h>

#include "nn/model/families.hpp"
#include "nn/model/layers.hpp"

namespace lipschitzlr::nn {
namespace {

class MnistCnn : public Network {
 public:
  explicit MnistCnn(const NetworkOptions& options)
      : conv1(register_module("conv1", valid(options.channels, 32))),
        conv2(register_module("conv2", valid(32, 32))),
        conv3(register_module("conv3", SameConvolution(32, 64, 3, 1, true, options.padding))),
        conv4(register_module("conv4", SameConvolution(64, 64, 3, 1, true, options.padding))),
        conv5(register_module("conv5", SameConvolution(64, 128, 3, 1, true, options.padding))),
        dense(register_module("dense", torch::nn::Linear(flat_size(options), 128))),
        norm(register_module("norm", batch_norm_1d(128, options))),
        head_(register_module("head", Head(128, options.classes))) {
    start_weights(*this, options);
  }

  at::Tensor forward(at::Tensor x) override {
    x = conv2(conv1(x).relu_()).relu_();
    x = at::dropout(at::max_pool2d(x, 2), 0.2, is_training());
    x = conv4(conv3(x).relu_()).relu_();
    x = at::dropout(at::max_pool2d(x, 2), 0.25, is_training());
    x = at::dropout(conv5(x).relu_(), 0.25, is_training());
    x = norm(dense(flatten_channels_last(x)).relu_());
    return head_(at::dropout(x, 0.25, is_training()));
  }
  Head head() const override { return head_; }

 private:
  static torch::nn::Conv2d valid(Index in, Index out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3));
  }
  static Index flat_size(const NetworkOptions& options) {
    return ((options.height - 4) / 2 / 2) * ((options.width - 4) / 2 / 2) * 128;
  }

  torch::nn::Conv2d conv1, conv2;
  SameConvolution conv3, conv4, conv5;
  torch::nn::Linear dense;
  torch::nn::BatchNorm1d norm;
  Head head_;
};

class Perceptron : public Network {
 public:
  Perceptron(const std::vector<Index>& widths, const NetworkOptions& options) {
    Index in = options.channels * options.height * options.width;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      dense_.push_back(register_module("dense" + std::to_string(i), torch::nn::Linear(in, widths[i])));
      in = widths[i];
    }
    head_ = register_module("head", Head(in, options.classes));
    start_weights(*this, options);
  }

  at::Tensor forward(at::Tensor x) override {
    x = flatten_channels_last(x);
    for (auto& dense : dense_) x = dense(x).relu_();
    return head_(x);
  }
  Head head() const override { return head_; }

 private:
  std::vector<torch::nn::Linear> dense_;
  Head head_{nullptr};
};

}  // namespace

std::shared_ptr<Network> make_mnist_cnn(const NetworkOptions& options) { return std::make_shared<MnistCnn>(options); }

std::shared_ptr<Network> make_perceptron(const std::vector<Index>& widths, const NetworkOptions& options) {
  return std::make_shared<Perceptron>(widths, options);
}

std::shared_ptr<Network> make_softmax(const NetworkOptions& options) {
  auto network = std::make_shared<Perceptron>(std::vector<Index>{}, options);
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : network->parameters()) parameter.zero_();
  return network;
}

}  // namespace lipschitzlr::nn

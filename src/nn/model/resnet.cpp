// Residual networks for small images, as Keras's example builds them: v1 of depth 6n+2 (16, 32, 64 filters; two 3x3
// convolutions a block), v2 of depth 9n+2 (pre-activation bottlenecks 1-3-1). Convolutions have biases; a shortcut that
// changes size is a 1x1 convolution without batch norm.

#include "nn/model/families.hpp"
#include "nn/model/layers.hpp"

namespace lipschitzlr::nn {
namespace {

class BlockV1 : public torch::nn::Module {
 public:
  BlockV1(Index in, Index filters, Index stride, const NetworkOptions& options)
      : conv1(register_module("conv1", SameConvolution(in, filters, 3, stride, true, options.padding))),
        norm1(register_module("norm1", batch_norm_2d(filters, options))),
        conv2(register_module("conv2", SameConvolution(filters, filters, 3, 1, true, options.padding))),
        norm2(register_module("norm2", batch_norm_2d(filters, options))) {
    if (stride != 1 || in != filters) {
      shortcut = register_module("shortcut", SameConvolution(in, filters, 1, stride, true, options.padding));
    }
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = norm2(conv2(norm_relu(norm1, conv1(x))));
    return y.add_(shortcut ? shortcut(x) : x).relu_();
  }

 private:
  SameConvolution conv1;
  torch::nn::BatchNorm2d norm1;
  SameConvolution conv2;
  torch::nn::BatchNorm2d norm2;
  SameConvolution shortcut{nullptr};
};

class ResNetV1 : public Network {
 public:
  ResNetV1(Index blocks, const NetworkOptions& options)
      : conv_(register_module("conv", SameConvolution(options.channels, 16, 3, 1, true, options.padding))),
        norm_(register_module("norm", batch_norm_2d(16, options))) {
    Index in = 16;
    for (Index stage = 0; stage < 3; ++stage) {
      const Index filters = Index{16} << stage;
      for (Index block = 0; block < blocks; ++block) {
        const Index stride = stage > 0 && block == 0 ? 2 : 1;
        blocks_.push_back(register_module("stage" + std::to_string(stage) + "_block" + std::to_string(block),
                                          std::make_shared<BlockV1>(in, filters, stride, options)));
        in = filters;
      }
    }
    head_ = register_module("head", Head(in, options.classes));
    start_weights(*this, options);
  }

  at::Tensor forward(at::Tensor images) override {
    at::Tensor x = norm_relu(norm_, conv_(images));
    for (auto& block : blocks_) x = block->forward(x);
    return head_(pool_everything(x));
  }
  Head head() const override { return head_; }
  std::vector<at::Tensor> penalized() const override { return convolution_weights(*this); }

 private:
  SameConvolution conv_;
  torch::nn::BatchNorm2d norm_;
  std::vector<std::shared_ptr<BlockV1>> blocks_;
  Head head_{nullptr};
};

// The first block of all gets what batch norm and ReLU have already been through; it has no pair of its own before its
// first convolution.
class BlockV2 : public torch::nn::Module {
 public:
  BlockV2(Index in, Index inner, Index out, Index stride, bool first, bool change, const NetworkOptions& options) {
    if (!first) norm1 = register_module("norm1", batch_norm_2d(in, options));
    conv1 = register_module("conv1", SameConvolution(in, inner, 1, stride, true, options.padding));
    norm2 = register_module("norm2", batch_norm_2d(inner, options));
    conv2 = register_module("conv2", SameConvolution(inner, inner, 3, 1, true, options.padding));
    norm3 = register_module("norm3", batch_norm_2d(inner, options));
    conv3 = register_module("conv3", SameConvolution(inner, out, 1, 1, true, options.padding));
    if (change) shortcut = register_module("shortcut", SameConvolution(in, out, 1, stride, true, options.padding));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = conv1(norm1 ? norm_relu(norm1, x) : x);
    y = conv3(norm_relu(norm3, conv2(norm_relu(norm2, y))));
    return y.add_(shortcut ? shortcut(x) : x);
  }

 private:
  torch::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr}, norm3{nullptr};
  SameConvolution conv1{nullptr}, conv2{nullptr}, conv3{nullptr}, shortcut{nullptr};
};

class ResNetV2 : public Network {
 public:
  ResNetV2(Index blocks, const NetworkOptions& options)
      : conv_(register_module("conv", SameConvolution(options.channels, 16, 3, 1, true, options.padding))),
        norm_(register_module("norm", batch_norm_2d(16, options))) {
    Index in = 16, inner = 16;
    for (Index stage = 0; stage < 3; ++stage) {
      const Index out = stage == 0 ? 4 * inner : 2 * inner;
      for (Index block = 0; block < blocks; ++block) {
        const bool change = block == 0;
        blocks_.push_back(register_module("stage" + std::to_string(stage) + "_block" + std::to_string(block),
                                          std::make_shared<BlockV2>(in, inner, out, stage > 0 && change ? 2 : 1,
                                                                    stage == 0 && change, change, options)));
        in = out;
      }
      inner = out;
    }
    last_norm_ = register_module("last_norm", batch_norm_2d(in, options));
    head_ = register_module("head", Head(in, options.classes));
    start_weights(*this, options);
  }

  at::Tensor forward(at::Tensor images) override {
    at::Tensor x = norm_relu(norm_, conv_(images));
    for (auto& block : blocks_) x = block->forward(x);
    return head_(pool_everything(norm_relu(last_norm_, x)));
  }
  Head head() const override { return head_; }
  std::vector<at::Tensor> penalized() const override { return convolution_weights(*this); }

 private:
  SameConvolution conv_;
  torch::nn::BatchNorm2d norm_;
  std::vector<std::shared_ptr<BlockV2>> blocks_;
  torch::nn::BatchNorm2d last_norm_{nullptr};
  Head head_{nullptr};
};

}  // namespace

std::shared_ptr<Network> make_resnet_v1(Index blocks, const NetworkOptions& options) {
  return std::make_shared<ResNetV1>(blocks, options);
}

std::shared_ptr<Network> make_resnet_v2(Index blocks, const NetworkOptions& options) {
  return std::make_shared<ResNetV2>(blocks, options);
}

}  // namespace lipschitzlr::nn

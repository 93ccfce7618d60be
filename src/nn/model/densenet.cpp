// DenseNet without bottlenecks and compression: three blocks of (depth - 4)/3 layers, each batch norm, ReLU and a 3x3
// convolution to `growth` channels that are appended to the `first` of a convolution before them; between blocks batch
// norm, ReLU, 1x1 convolution and 2x2 average pooling. No convolution has a bias.

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>

#include "nn/model/families.hpp"
#include "nn/model/layers.hpp"

namespace lipschitzlr::nn {
namespace {

constexpr double kBatchNormEpsilon = 1.1e-5;

// A batch norm and the convolution behind its ReLU.
class Unit : public torch::nn::Module {
 public:
  Unit(Index in, Index out, Index kernel, const NetworkOptions& options)
      : norm(register_module("norm", batch_norm_2d(in, options, kBatchNormEpsilon))),
        conv(register_module("conv", SameConvolution(in, out, kernel, 1, false, options.padding))) {}

  at::Tensor forward(const at::Tensor& x) { return conv(norm_relu(norm, x)); }
  at::Tensor weight() const { return conv->weight; }

 private:
  torch::nn::BatchNorm2d norm;
  SameConvolution conv;
};

class DenseNet : public Network {
 public:
  DenseNet(Index layers, Index growth, Index first, const NetworkOptions& options)
      : conv_(register_module("conv", SameConvolution(options.channels, first, 3, 1, false, options.padding))) {
    Index width = first;
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      const std::string name = "block" + std::to_string(block);
      for (Index layer = 0; layer < layers; ++layer) {
        blocks_[block].push_back(register_module(name + "_layer" + std::to_string(layer),
                                                 std::make_shared<Unit>(width, growth, 3, options)));
        width += growth;
      }
      if (block + 1 == blocks_.size()) break;
      transitions_.push_back(register_module(name + "_transition", std::make_shared<Unit>(width, width, 1, options)));
    }
    last_norm_ = register_module("last_norm", batch_norm_2d(width, options, kBatchNormEpsilon));
    head_ = register_module("head", Head(width, options.classes));
    start_weights(*this, options);
  }

  at::Tensor forward(at::Tensor images) override {
    at::Tensor x = conv_(images);
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      for (auto& layer : blocks_[block]) x = at::cat({x, layer->forward(x)}, 1);
      if (block < transitions_.size()) x = at::avg_pool2d(transitions_[block]->forward(x), 2);
    }
    return head_(pool_everything(norm_relu(last_norm_, x)));
  }
  Head head() const override { return head_; }

  std::vector<at::Tensor> penalized() const override {
    std::vector<at::Tensor> weights = {conv_->weight};
    for (const auto& transition : transitions_) weights.push_back(transition->weight());
    return weights;
  }

 private:
  SameConvolution conv_;
  std::array<std::vector<std::shared_ptr<Unit>>, 3> blocks_;
  std::vector<std::shared_ptr<Unit>> transitions_;
  torch::nn::BatchNorm2d last_norm_{nullptr};
  Head head_{nullptr};
};

}  // namespace

std::shared_ptr<Network> make_densenet(Index layers_per_block, Index growth, Index first,
                                       const NetworkOptions& options) {
  return std::make_shared<DenseNet>(layers_per_block, growth, first, options);
}

}  // namespace lipschitzlr::nn

#include "auto/models.hpp"

#include <limits>

namespace lipschitzlr::bench {
namespace {

using at::Tensor;
namespace tn = torch::nn;

tn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  return tn::Conv2d(tn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
}

// Of He et al. 2016, with batch norm; a strided 1x1 convolution where the shape changes.
class ResidualBlockImpl : public tn::Module {
 public:
  ResidualBlockImpl(std::int64_t in, std::int64_t out)
      : first_(register_module("first", convolution(in, out, in == out ? 1 : 2))),
        second_(register_module("second", convolution(out, out))),
        norm1_(register_module("norm1", tn::BatchNorm2d(out))),
        norm2_(register_module("norm2", tn::BatchNorm2d(out))) {
    if (in != out) shortcut_ = register_module("shortcut", tn::Conv2d(tn::Conv2dOptions(in, out, 1).stride(2)));
  }
  Tensor forward(const Tensor& x) {
    const Tensor sum = norm2_(second_(norm1_(first_(x)).relu())) + (shortcut_.is_empty() ? x : shortcut_(x));
    return sum.relu();
  }

 private:
  tn::Conv2d first_, second_, shortcut_ = nullptr;
  tn::BatchNorm2d norm1_, norm2_;
};
TORCH_MODULE(ResidualBlock);

class DenseLayerImpl : public tn::Module {
 public:
  DenseLayerImpl(std::int64_t in, std::int64_t growth)
      : norm_(register_module("norm", tn::BatchNorm2d(in))),
        convolution_(register_module("convolution", convolution(in, growth))) {}
  Tensor forward(const Tensor& x) { return torch::cat({x, convolution_(norm_(x).relu())}, 1); }

 private:
  tn::BatchNorm2d norm_;
  tn::Conv2d convolution_;
};
TORCH_MODULE(DenseLayer);

class MeanOverPixelsImpl : public tn::Module {
 public:
  Tensor forward(const Tensor& x) { return x.mean({2, 3}); }
};
TORCH_MODULE(MeanOverPixels);

// Characters in, one row of activations for each character out.
template <class Layer, class Options>
class RecurrentImpl : public tn::Module {
 public:
  RecurrentImpl(std::int64_t characters, std::int64_t width)
      : embedding_(register_module("embedding", tn::Embedding(characters, width))),
        cells_(register_module("cells", Layer(Options(width, width).batch_first(true)))) {}
  Tensor forward(const Tensor& x) { return std::get<0>(cells_(embedding_(x))).flatten(0, 1); }

 private:
  tn::Embedding embedding_;
  Layer cells_;
};
class LstmBodyImpl : public RecurrentImpl<tn::LSTM, tn::LSTMOptions> {
  using RecurrentImpl::RecurrentImpl;
};
TORCH_MODULE(LstmBody);
class GruBodyImpl : public RecurrentImpl<tn::GRU, tn::GRUOptions> {
  using RecurrentImpl::RecurrentImpl;
};
TORCH_MODULE(GruBody);

// A block with the norms before attention and perceptron; a character sees those before it.
class AttentionBlockImpl : public tn::Module {
 public:
  explicit AttentionBlockImpl(std::int64_t width)
      : norm1_(register_module("norm1", tn::LayerNorm(tn::LayerNormOptions({width})))),
        norm2_(register_module("norm2", tn::LayerNorm(tn::LayerNormOptions({width})))),
        mix_(register_module("mix", tn::Linear(width, 3 * width))),
        out_(register_module("out", tn::Linear(width, width))),
        up_(register_module("up", tn::Linear(width, 4 * width))),
        down_(register_module("down", tn::Linear(4 * width, width))) {}
  Tensor forward(const Tensor& x) {
    const Tensor attended = x + out_(attention(mix_(norm1_(x))));
    return attended + down_(torch::gelu(up_(norm2_(attended))));
  }

 private:
  static constexpr std::int64_t kHeads = 4;
  static Tensor attention(const Tensor& mixed) {
    const std::int64_t rows = mixed.size(0), length = mixed.size(1), width = mixed.size(2) / 3;
    const auto parts = mixed.view({rows, length, 3, kHeads, width / kHeads}).permute({2, 0, 3, 1, 4});
    const double scale = 1 / std::sqrt(static_cast<double>(width / kHeads));
    const Tensor later = torch::ones({length, length}, torch::kBool).triu(1);
    const Tensor scores = (parts[0].matmul(parts[1].transpose(-2, -1)) * scale)
                              .masked_fill(later, -std::numeric_limits<float>::infinity());
    return scores.softmax(-1).matmul(parts[2]).transpose(1, 2).reshape({rows, length, width});
  }

  tn::LayerNorm norm1_, norm2_;
  tn::Linear mix_, out_, up_, down_;
};
TORCH_MODULE(AttentionBlock);

class TransformerBodyImpl : public tn::Module {
 public:
  TransformerBodyImpl(std::int64_t layers, std::int64_t characters, std::int64_t context, std::int64_t width)
      : embedding_(register_module("embedding", tn::Embedding(characters, width))),
        positions_(register_parameter("positions", 0.1 * torch::randn({context, width}))),
        blocks_(register_module("blocks", tn::Sequential())),
        norm_(register_module("norm", tn::LayerNorm(tn::LayerNormOptions({width})))) {
    for (std::int64_t i = 0; i < layers; ++i) blocks_->push_back(AttentionBlock(width));
  }
  Tensor forward(const Tensor& x) { return norm_(blocks_->forward(embedding_(x) + positions_)).flatten(0, 1); }

 private:
  tn::Embedding embedding_;
  Tensor positions_;
  tn::Sequential blocks_;
  tn::LayerNorm norm_;
};
TORCH_MODULE(TransformerBody);

}  // namespace

std::shared_ptr<Model> perceptron(std::int64_t inputs, const std::vector<std::int64_t>& widths, std::int64_t outputs,
                                  Activation activation) {
  tn::Sequential body(tn::Flatten{});
  std::int64_t in = inputs;
  for (const std::int64_t width : widths) {
    body->push_back(tn::Linear(in, width));
    if (activation == Activation::relu) body->push_back(tn::ReLU());
    if (activation == Activation::tanh) body->push_back(tn::Tanh());
    in = width;
  }
  return std::make_shared<Model>(body, in, outputs);
}

std::shared_ptr<Model> lenet(std::int64_t outputs) {
  tn::Sequential body(tn::Conv2d(tn::Conv2dOptions(1, 6, 5).padding(2)), tn::ReLU(), tn::MaxPool2d(2),
                      tn::Conv2d(6, 16, 5), tn::ReLU(), tn::MaxPool2d(2), tn::Flatten(), tn::Linear(400, 120),
                      tn::ReLU(), tn::Linear(120, 84), tn::ReLU());
  return std::make_shared<Model>(body, 84, outputs);
}

std::shared_ptr<Model> convolutional(std::int64_t channels, std::int64_t side, const std::vector<std::int64_t>& widths,
                                     std::int64_t outputs, Norm norm) {
  tn::Sequential body;
  for (const std::int64_t width : widths) {
    body->push_back(convolution(channels, width));
    if (norm == Norm::batch) body->push_back(tn::BatchNorm2d(width));
    if (norm == Norm::group) body->push_back(tn::GroupNorm(tn::GroupNormOptions(4, width)));
    body->push_back(tn::ReLU());
    body->push_back(tn::MaxPool2d(2));
    channels = width;
    side /= 2;
  }
  body->push_back(tn::Flatten());
  return std::make_shared<Model>(body, channels * side * side, outputs);
}

std::shared_ptr<Model> residual(std::int64_t blocks, std::int64_t width, std::int64_t outputs) {
  tn::Sequential body(convolution(3, width), tn::BatchNorm2d(width), tn::ReLU());
  std::int64_t in = width;
  for (const std::int64_t out : {width, 2 * width, 4 * width}) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      body->push_back(ResidualBlock(in, out));
      in = out;
    }
  }
  body->push_back(MeanOverPixels());
  return std::make_shared<Model>(body, in, outputs);
}

std::shared_ptr<Model> densely_connected(std::int64_t layers, std::int64_t growth, std::int64_t outputs) {
  std::int64_t channels = 2 * growth;
  tn::Sequential body(convolution(3, channels));
  for (int block = 0; block < 3; ++block) {
    for (std::int64_t layer = 0; layer < layers; ++layer, channels += growth) {
      body->push_back(DenseLayer(channels, growth));
    }
    body->push_back(tn::BatchNorm2d(channels));
    body->push_back(tn::ReLU());
    if (block < 2) body->push_back(tn::Conv2d(tn::Conv2dOptions(channels, channels, 1).bias(false)));
    if (block < 2) body->push_back(tn::AvgPool2d(2));
  }
  body->push_back(MeanOverPixels());
  return std::make_shared<Model>(body, channels, outputs);
}

std::shared_ptr<Model> recurrent(Cell cell, std::int64_t characters, std::int64_t width) {
  tn::Sequential body;
  if (cell == Cell::lstm) body->push_back(LstmBody(characters, width));
  if (cell == Cell::gru) body->push_back(GruBody(characters, width));
  return std::make_shared<Model>(body, width, characters);
}

std::shared_ptr<Model> transformer(std::int64_t layers, std::int64_t characters, std::int64_t context,
                                   std::int64_t width) {
  return std::make_shared<Model>(tn::Sequential(TransformerBody(layers, characters, context, width)), width,
                                 characters);
}

}  // namespace lipschitzlr::bench

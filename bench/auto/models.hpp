#pragma once
// The networks of the benchmark: a body, and the head that measures what it receives. Those that the product lacks, for
// text above all, live here. libtorch's own start, from its generator.

#include <torch/torch.h>

#include <vector>

#include "lipschitzlr/nn/head.hpp"

namespace lipschitzlr::bench {

class Model : public torch::nn::Module {
 public:
  Model(torch::nn::Sequential body, std::int64_t width, std::int64_t outputs)
      : body_(register_module("body", std::move(body))), head(register_module("head", nn::Head(width, outputs))) {}

  at::Tensor forward(const at::Tensor& inputs) { return head(body_->forward(inputs)); }

 private:
  torch::nn::Sequential body_;

 public:
  nn::Head head;
};

enum class Activation { relu, tanh };

std::shared_ptr<Model> perceptron(std::int64_t inputs, const std::vector<std::int64_t>& widths, std::int64_t outputs,
                                  Activation activation = Activation::relu);
std::shared_ptr<Model> lenet(std::int64_t outputs);  // 28x28, grey
// 3x3 convolutions, each with a norm and ReLU, pooled by 2 after each.
enum class Norm { batch, group };
std::shared_ptr<Model> convolutional(std::int64_t channels, std::int64_t side, const std::vector<std::int64_t>& widths,
                                     std::int64_t outputs, Norm norm);
// Three stages of so many blocks: width, 2 width, 4 width channels.
std::shared_ptr<Model> residual(std::int64_t blocks, std::int64_t width, std::int64_t outputs);
// Three blocks of so many layers, each of which adds growth channels.
std::shared_ptr<Model> densely_connected(std::int64_t layers, std::int64_t growth, std::int64_t outputs);
enum class Cell { lstm, gru };
std::shared_ptr<Model> recurrent(Cell cell, std::int64_t characters, std::int64_t width);
std::shared_ptr<Model> transformer(std::int64_t layers, std::int64_t characters, std::int64_t context,
                                   std::int64_t width);

}  // namespace lipschitzlr::bench

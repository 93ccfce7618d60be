#include "auto/workloads.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bench {
namespace {

std::function<Data()> images_of(const std::string& set, std::int64_t train, std::int64_t valid, std::int64_t side) {
  return [=] { return images(set, train, valid, side); };
}

std::function<Data()> table_of(const std::string& set, std::int64_t train, std::int64_t valid, double scale = 1) {
  return [=] { return table(set, train, valid, scale); };
}

std::function<std::shared_ptr<Model>(const Data&)> mlp(const std::vector<std::int64_t>& widths,
                                                       Activation activation = Activation::relu) {
  return [=](const Data& data) {
    const at::Tensor first = data.train_inputs[0], target = data.train_targets[0];
    return perceptron(first.numel(), widths, data.classes > 0 ? data.classes : target.numel(), activation);
  };
}

std::vector<Workload> development() {
  constexpr std::int64_t kContext = 32;
  return {
      {.name = "softmax-mnist",
       .what = "softmax regression, MNIST",
       .steps = 300,
       .batch = 128,
       .data = images_of("mnist", 10000, 2000, 28),
       .model = mlp({})},
      {.name = "mlp-california",
       .what = "64-64, California house prices",
       .steps = 400,
       .batch = 64,
       .loss = Loss::squared_error,
       .data = table_of("california", 12000, 3000),
       .model = mlp({64, 64})},
      {.name = "mlp-california-x100",
       .what = "the same, targets times 100",
       .steps = 400,
       .batch = 64,
       .loss = Loss::squared_error,
       .data = table_of("california", 12000, 3000, 100),
       .model = mlp({64, 64})},
      {.name = "mlp-covertype",
       .what = "128-128, forest cover types",
       .steps = 400,
       .batch = 128,
       .data = table_of("covertype", 20000, 3000),
       .model = mlp({128, 128})},
      {.name = "mlp-fashion-narrow",
       .what = "32-32, Fashion-MNIST",
       .steps = 300,
       .batch = 64,
       .data = images_of("fashion-mnist", 10000, 2000, 28),
       .model = mlp({32, 32})},
      {.name = "mlp-fashion-wide",
       .what = "512-512, Fashion-MNIST",
       .steps = 200,
       .batch = 64,
       .data = images_of("fashion-mnist", 10000, 1000, 28),
       .model = mlp({512, 512})},
      {.name = "autoencoder",
       .what = "128-32-128, MNIST, cross-entropy of pixels",
       .steps = 300,
       .batch = 64,
       .loss = Loss::binary_cross_entropy,
       .data = [] { return images_to_copy("mnist", 10000, 1000); },
       .model = mlp({128, 32, 128})},
      {.name = "lenet",
       .what = "LeNet-5 with ReLU, no norm, MNIST",
       .steps = 300,
       .batch = 32,
       .data = images_of("mnist", 10000, 500, 28),
       .model = [](const Data& data) { return lenet(data.classes); }},
      {.name = "cnn-batch-norm",
       .what = "8-16-16 convolutions with batch norm, Fashion-MNIST",
       .steps = 200,
       .batch = 32,
       .data = images_of("fashion-mnist", 10000, 500, 28),
       .model =
           [](const Data& data) {
             return convolutional(1, 28, {8, 16, 16}, data.classes, Norm::batch);
           }},
      {.name = "resnet8",
       .what = "residual, 8-16-32 channels, CIFAR-10 at 16x16",
       .steps = 200,
       .batch = 32,
       .data = images_of("cifar10", 10000, 500, 16),
       .model = [](const Data& data) { return residual(1, 8, data.classes); }},
      {.name = "char-lstm",
       .what = "LSTM of 64, licence texts",
       .steps = 250,
       .batch = 16,
       .data = [] { return text(kContext); },
       .model = [](const Data& data) { return recurrent(Cell::lstm, data.classes, 64); }},
      {.name = "char-transformer",
       .what = "2 layers of 64, licence texts",
       .steps = 250,
       .batch = 16,
       .data = [] { return text(kContext); },
       .model = [](const Data& data) { return transformer(2, data.classes, kContext, 64); }},
  };
}

std::vector<Workload> held_out() {
  constexpr std::int64_t kContext = 48;
  std::vector<Workload> all = {
      {.name = "mlp-a9a",
       .what = "64-64, a9a",
       .steps = 300,
       .batch = 64,
       .data = table_of("a9a", 15000, 5000),
       .model = mlp({64, 64})},
      {.name = "densenet22",
       .what = "DenseNet of 22 layers, growth 4, CIFAR-10 at 16x16",
       .steps = 300,
       .batch = 32,
       .data = images_of("cifar10", 10000, 500, 16),
       .model = [](const Data& data) { return densely_connected(6, 4, data.classes); }},
      {.name = "cnn-group-norm",
       .what = "16-32-64 convolutions with group norm, CIFAR-10 at 16x16",
       .steps = 300,
       .batch = 32,
       .data = images_of("cifar10", 10000, 500, 16),
       .model =
           [](const Data& data) {
             return convolutional(3, 16, {16, 32, 64}, data.classes, Norm::group);
           }},
      {.name = "char-gru",
       .what = "GRU of 96, licence texts",
       .steps = 300,
       .batch = 16,
       .data = [] { return text(kContext); },
       .model = [](const Data& data) { return recurrent(Cell::gru, data.classes, 96); }},
      {.name = "lenet-batch-8",
       .what = "LeNet-5, Fashion-MNIST, batches of 8",
       .steps = 1000,
       .batch = 8,
       .data = images_of("fashion-mnist", 10000, 500, 28),
       .model = [](const Data& data) { return lenet(data.classes); }},
      {.name = "mlp-batch-1024",
       .what = "256-256, MNIST, batches of 1024",
       .steps = 150,
       .batch = 1024,
       .data = images_of("mnist", 20000, 2000, 28),
       .model = mlp({256, 256})},
      {.name = "mlp-start-x3",
       .what = "4 layers of 64, tanh, covertype, start weights times 3",
       .steps = 400,
       .batch = 128,
       .data = table_of("covertype", 20000, 3000),
       .model = mlp({64, 64, 64, 64}, Activation::tanh),
       .start_scale = 3},
      {.name = "resnet20-long",
       .what = "residual of 20 layers, CIFAR-10 at 16x16, augmented",
       .steps = 5000,
       .batch = 16,
       .data = images_of("cifar10", 20000, 500, 16),
       .model = [](const Data& data) { return residual(3, 8, data.classes); },
       .augmented = true},
  };
  for (Workload& one : all) one.held_out = true;
  return all;
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = development(), more = held_out();
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

const Workload& workload(const std::string& name) {
  std::vector<std::string> names;
  for (const Workload& one : workloads()) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  throw Error(Fault::usage, fmt::format("there is no workload \"{}\"; known are {}", name, fmt::join(names, ", ")));
}

at::Tensor loss_of(Loss loss, const at::Tensor& outputs, const at::Tensor& targets) {
  switch (loss) {
    case Loss::cross_entropy:
      return torch::cross_entropy_loss(outputs, targets.flatten());
    case Loss::squared_error:
      return torch::mse_loss(outputs, targets);
    case Loss::binary_cross_entropy:
      return torch::binary_cross_entropy_with_logits(outputs, targets);
  }
  throw Error(Fault::usage, "there is no such loss");
}

}  // namespace lipschitzlr::bench

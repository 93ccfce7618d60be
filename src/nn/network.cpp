#include "lipschitzlr/nn/network.hpp"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

namespace lipschitzlr::nn {
namespace {

template <class Norm>
Layer norm_layer(const std::string& name, const Norm& norm) {
  return {LayerKind::batch_norm,
          name,
          {{"weight", norm.weight},
           {"bias", norm.bias},
           {"running_mean", norm.running_mean},
           {"running_var", norm.running_var}}};
}

template <class Module>
Layer weighted_layer(LayerKind kind, const std::string& name, const Module& module) {
  Layer layer{kind, name, {{"weight", module.weight}}};
  if (module.bias.defined()) layer.tensors.emplace_back("bias", module.bias);
  return layer;
}

}  // namespace

std::string to_string(LayerKind kind) {
  switch (kind) {
    case LayerKind::convolution:
      return "convolution";
    case LayerKind::batch_norm:
      return "batch norm";
    case LayerKind::dense:
      return "dense layer";
  }
  return "layer";
}

std::vector<Layer> Network::layers() const {
  std::vector<Layer> list;
  for (const auto& item : named_modules("", false)) {
    const torch::nn::Module& module = *item.value();
    if (auto* convolution = module.as<torch::nn::Conv2dImpl>()) {
      list.push_back(weighted_layer(LayerKind::convolution, item.key(), *convolution));
    } else if (auto* dense = module.as<torch::nn::LinearImpl>()) {
      list.push_back(weighted_layer(LayerKind::dense, item.key(), *dense));
    } else if (auto* norm2d = module.as<torch::nn::BatchNorm2dImpl>()) {
      list.push_back(norm_layer(item.key(), *norm2d));
    } else if (auto* norm1d = module.as<torch::nn::BatchNorm1dImpl>()) {
      list.push_back(norm_layer(item.key(), *norm1d));
    }
  }
  return list;
}

NamedTensors named_weights(const Network& network) {
  NamedTensors list;
  for (const Layer& layer : network.layers()) {
    for (const auto& [name, tensor] : layer.tensors) list.emplace_back(layer.name + "." + name, tensor);
  }
  return list;
}

}  // namespace lipschitzlr::nn

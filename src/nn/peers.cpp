#include "lipschitzlr/nn/peers.hpp"

#include <fmt/format.h>
#include <torch/optim/serialize.h>
#include <torch/serialize/archive.h>

#include <numeric>

#include "lipschitzlr/base/error.hpp"
#include "nn/optimizer/work.hpp"

namespace lipschitzlr::nn {
namespace {

constexpr const char *kSetting = "setting ", *kTensor = "tensor ";

template <class Take>
void for_each_key(torch::serialize::InputArchive& archive, const std::string& prefix, Take&& take) {
  for (const std::string& key : archive.keys()) {
    if (key.starts_with(prefix)) take(key, key.substr(prefix.size()));
  }
}

// One by one, so that it does not depend on the number of threads.
double sum_of_squares(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble).contiguous();
  const auto* const begin = values.data_ptr<double>();
  return std::inner_product(begin, begin + values.numel(), begin, 0.0);
}

}  // namespace

void PeerOptions::serialize(torch::serialize::OutputArchive& archive) const {
  archive.write("lr", c10::IValue(lr()));
  archive.write("first_lr", c10::IValue(first_lr()));
  archive.write("weight_decay", c10::IValue(weight_decay()));
  for (const auto& [name, value] : settings()) archive.write(kSetting + name, c10::IValue(value));
}

void PeerOptions::serialize(torch::serialize::InputArchive& archive) {
  lr(optimizer::read_number(archive, "lr"));
  first_lr(optimizer::read_number(archive, "first_lr"));
  weight_decay(optimizer::read_number(archive, "weight_decay"));
  for_each_key(archive, kSetting, [&](const std::string& key, const std::string& name) {
    settings()[name] = optimizer::read_number(archive, key);
  });
}

at::Tensor& PeerState::zeros(const std::string& name, const at::Tensor& like) {
  at::Tensor& tensor = tensors[name];
  if (!tensor.defined()) tensor = at::zeros_like(like);
  return tensor;
}

void PeerState::serialize(torch::serialize::OutputArchive& archive) const {
  archive.write("step", c10::IValue(step()));
  for (const auto& [name, tensor] : tensors) archive.write(kTensor + name, tensor, true);
}

void PeerState::serialize(torch::serialize::InputArchive& archive) {
  c10::IValue steps;
  archive.read("step", steps);
  step(steps.toInt());
  for_each_key(archive, kTensor,
               [&](const std::string& key, const std::string& name) { archive.read(key, tensors[name], true); });
}

PeerOptimizer::PeerOptimizer(std::string name, Groups groups, const PeerOptions& defaults)
    : Optimizer(std::move(groups), std::make_unique<PeerOptions>(defaults)), name_(std::move(name)) {}

at::Tensor PeerOptimizer::step(LossClosure closure) {
  at::Tensor loss = optimizer::loss_of(closure);
  const at::NoGradGuard no_grad;
  const auto all = optimizer::begin_step<PeerState, PeerOptions>(*this);
  double square = 0;
  if (needs_gradient_square()) {
    for (const auto& one : all) square += sum_of_squares(one.gradient);
  }
  for (const auto& one : all) update({one.parameter, one.gradient, one.state, one.options, square});
  return loss;
}

void PeerOptimizer::save(torch::serialize::OutputArchive& archive) const {
  torch::optim::serialize<PeerState, PeerOptions>(archive, *this);
  archive.write("peer", c10::IValue(name_));
}

void PeerOptimizer::load(torch::serialize::InputArchive& archive) {
  c10::IValue name;
  if (!archive.try_read("peer", name) || name.toStringRef() != name_) {
    throw Error(Fault::data, fmt::format("the archive holds the state of another optimizer than {}", name_));
  }
  torch::optim::serialize<PeerState, PeerOptions>(archive, *this);
}

}  // namespace lipschitzlr::nn

#pragma once
// The optimizers of others that the paper compares with (AMSGrad, AdaDelta, AdaShift, WNGrad, WN-Adam, AdaBound,
// AMSBound), for any libtorch training loop. They have step sizes of their own: nothing is measured for them.
//
//   auto optimizer = make_peer("adashift", model->parameters(), peer_options("adashift").lr(0.01));
//   each step:   loss.backward();  optimizer->step();

#include <torch/optim/optimizer.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lipschitzlr/nn/optimizer_registry.hpp"

namespace lipschitzlr::nn {

// Options of one parameter group.
struct PeerOptions : public torch::optim::OptimizerCloneableOptions<PeerOptions> {
  explicit PeerOptions(double rate = 0) : lr_(rate), first_lr_(rate) {}
  TORCH_ARG(double, lr) = 0;            // of the step at hand: schedules move it
  TORCH_ARG(double, first_lr) = 0;      // before any schedule
  TORCH_ARG(double, weight_decay) = 0;  // adds weight_decay w to the gradient
  TORCH_ARG(OptimizerSettings, settings) = {};

 public:
  double at(const std::string& setting) const { return settings().at(setting); }
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  double get_lr() const override { return lr(); }
  void set_lr(const double rate) override { lr(rate); }
};

// What an optimizer remembers of one parameter: named tensors, and the count of its steps.
struct PeerState : public torch::optim::OptimizerCloneableParamState<PeerState> {
  TORCH_ARG(std::int64_t, step) = 0;

 public:
  std::map<std::string, at::Tensor> tensors;

  // The tensor of that name; zeros like the other at first.
  at::Tensor& zeros(const std::string& name, const at::Tensor& like);
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
};

// One step of one parameter.
struct PeerStep {
  at::Tensor parameter, gradient;  // the gradient with its weight decay
  PeerState& state;                // whose step() counts this one already
  PeerOptions& options;
  double gradient_square = 0;  // of all parameters together, when the optimizer asks for it
};

class PeerOptimizer : public torch::optim::Optimizer {
 public:
  using Groups = std::vector<torch::optim::OptimizerParamGroup>;
  PeerOptimizer(std::string name, Groups groups, const PeerOptions& defaults);

  // Parameters without a gradient are left alone. A closure, as libtorch's optimizers take one, is called first.
  at::Tensor step(LossClosure closure = nullptr) override;

  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  virtual void update(const PeerStep& step) = 0;
  virtual bool needs_gradient_square() const { return false; }

 private:
  std::string name_;
};

// The defaults of its paper, with the settings given.
PeerOptions peer_options(const std::string& name, const OptimizerSettings& given = {});

// A group without options of its own has these. Throws Error (usage) when there is no such optimizer.
std::unique_ptr<PeerOptimizer> make_peer(const std::string& name, PeerOptimizer::Groups groups,
                                         const PeerOptions& defaults);
std::unique_ptr<PeerOptimizer> make_peer(const std::string& name, std::vector<at::Tensor> parameters,
                                         const PeerOptions& defaults);

}  // namespace lipschitzlr::nn

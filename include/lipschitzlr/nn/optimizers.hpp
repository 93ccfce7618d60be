#pragma once
// The paper's optimizers for a libtorch training loop. The rate of each step comes from a RateController: there is none
// to set. With eta that rate and g the gradient (plus weight_decay w, per group):
//   LipschitzSGD      w <- w - eta g
//   AdaMo             V <- beta V + (1-beta) g;                                  w <- w - eta V
//   AdaptiveRMSprop   v <- beta v + (1-beta) g^2;                                w <- w - eta g / (sqrt(v) + epsilon)
//   AutoAdam          m, v as averages with beta1, beta2;                        w <- w - eta m / (sqrt(v) + epsilon)
// With the group option bias_correction each average is divided by 1 - beta^t, t counting the steps of its parameter;
// the rule has an option of the same name for its own averages, and the theory wants both or neither.
//
//   Head head(64, 10);                                   // where Linear stood
//   AdaMo optimizer(model->parameters(), head->tap(), {.rule_options = {.first_rate = 0.1}, .loss = {.classes = 10}});
//   each step:   loss.backward();  optimizer.step();
//   each epoch:  optimizer.end_epoch();

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "lipschitzlr/nn/controller.hpp"

namespace lipschitzlr::nn {

// Options of one parameter group.
struct LipschitzOptions : public torch::optim::OptimizerCloneableOptions<LipschitzOptions> {
  LipschitzOptions() = default;
  explicit LipschitzOptions(double decay) : weight_decay_(decay) {}
  TORCH_ARG(double, weight_decay) = 0;  // adds weight_decay w to the gradient
  TORCH_ARG(bool, bias_correction) = false;
  TORCH_ARG(double, scale) = 1;  // the group's rate is this times the computed one
  TORCH_ARG(double, lr) = 0;     // the rate of the last step: to be read, setting it has no effect

 public:
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  double get_lr() const override { return lr(); }
  void set_lr(const double rate) override { lr(rate); }
};

// What an optimizer remembers of one parameter.
struct LipschitzParamState : public torch::optim::OptimizerCloneableParamState<LipschitzParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, first) = {};   // V or m
  TORCH_ARG(torch::Tensor, second) = {};  // v

 public:
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
};

class LipschitzOptimizer : public torch::optim::Optimizer {
 public:
  using Groups = std::vector<torch::optim::OptimizerParamGroup>;

  // Parameters without a gradient are left alone. A closure, as libtorch's optimizers take one, is called first.
  torch::Tensor step(LossClosure closure = nullptr) override;
  void end_epoch() { controller_->end_epoch(); }

  RateController& controller() { return *controller_; }
  const RateController& controller() const { return *controller_; }

  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  // The rule's name in options is replaced by the optimizer's own.
  LipschitzOptimizer(Groups groups, std::shared_ptr<Tap> tap, ControllerOptions options, const char* rule,
                     LipschitzOptions defaults, const std::vector<torch::Tensor>& buffers);

  // One step of one parameter with the rate options.lr().
  virtual void update(torch::Tensor& parameter, const torch::Tensor& gradient, LipschitzParamState& state,
                      const LipschitzOptions& options) = 0;
  const rate::RuleOptions& rule_options() const { return controller_->options().rule_options; }

 private:
  std::vector<torch::Tensor> buffers_;
  std::size_t groups_watched_;  // whose parameters count in max ||w||
  std::unique_ptr<RateController> controller_;
};

// The four differ in their rule and their update only; each takes parameters or groups. buffers count in max ||w||, as
// in the authors' code.
#define LIPSCHITZLR_OPTIMIZER(Name, rule)                                                                            \
  class Name : public LipschitzOptimizer {                                                                           \
   public:                                                                                                           \
    Name(Groups groups, std::shared_ptr<Tap> tap, ControllerOptions options = {}, LipschitzOptions defaults = {},    \
         const std::vector<torch::Tensor>& buffers = {})                                                             \
        : LipschitzOptimizer(std::move(groups), std::move(tap), std::move(options), rule, defaults, buffers) {}      \
    Name(std::vector<torch::Tensor> parameters, std::shared_ptr<Tap> tap, ControllerOptions options = {},            \
         LipschitzOptions defaults = {}, const std::vector<torch::Tensor>& buffers = {})                             \
        : Name(Groups{torch::optim::OptimizerParamGroup(std::move(parameters))}, std::move(tap), std::move(options), \
               defaults, buffers) {}                                                                                 \
                                                                                                                     \
   protected:                                                                                                        \
    void update(torch::Tensor& parameter, const torch::Tensor& gradient, LipschitzParamState& state,                 \
                const LipschitzOptions& options) override;                                                           \
  }

LIPSCHITZLR_OPTIMIZER(LipschitzSGD, "sgd");
LIPSCHITZLR_OPTIMIZER(AdaMo, "adamo");
LIPSCHITZLR_OPTIMIZER(AdaptiveRMSprop, "rmsprop");
LIPSCHITZLR_OPTIMIZER(AutoAdam, "auto-adam");
#undef LIPSCHITZLR_OPTIMIZER

}  // namespace lipschitzlr::nn

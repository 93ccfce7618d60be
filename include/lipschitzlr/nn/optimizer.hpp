#pragma once
// The base of all optimizers of nn/: the paper's (optimizers.hpp), those it compares with (baseline_optimizers.hpp) and
// any of your own. They differ in update(), one step of one parameter. Options, state, parameter groups, weight decay,
// frozen parameters, saving and loading are here, and each has a RateController that sets the rate of every step.
//
//   class SignSgd : public Optimizer {
//    public:
//     SignSgd(std::vector<at::Tensor> parameters, const Head& head)
//         : Optimizer({.info = {.name = "sign-sgd"}, .groups = {std::move(parameters)}, .tap = head,
//                      .rate = {.rule = "sgd"}}) {}
//    protected:
//     void update(const OptimizerStep& step) override { step.parameter.sub_(step.gradient.sign(), step.options.lr()); }
//   };

#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lipschitzlr/nn/controller.hpp"
#include "lipschitzlr/nn/named_tensors.hpp"
#include "lipschitzlr/nn/optimizer_registry.hpp"

namespace lipschitzlr::nn {

// Options of one parameter group.
struct OptimizerOptions : public torch::optim::OptimizerCloneableOptions<OptimizerOptions> {
  TORCH_ARG(double, weight_decay) = 0;  // adds weight_decay w to the gradient
  TORCH_ARG(double, scale) = 1;         // the group's rate is this times the controller's
  // Of the paper's optimizers: divide each average by 1 - beta^t. None: as the rule does with its own averages; the
  // theory wants both or neither.
  TORCH_ARG(std::optional<bool>, bias_correction) = {};
  TORCH_ARG(OptimizerSettings, settings) = {};  // those left out have their defaults

 public:
  double at(const std::string& setting) const;  // throws Error (usage) when there is no such setting
  double lr() const { return lr_; }             // the rate of the last step
  double get_lr() const override { return lr_; }
  void set_lr(const double rate) override { lr_ = rate * scale(); }  // of the controller: it refuses what others set

 private:
  double lr_ = 0;
};

// What an optimizer remembers of one parameter: named tensors, and the count of its steps.
struct ParameterState {
  std::int64_t step = 0;
  std::map<std::string, at::Tensor> tensors = {};

  // The tensor of that name; zeros like the other at first.
  at::Tensor& zeros(const std::string& name, const at::Tensor& like);
};

// One step of one parameter.
struct OptimizerStep {
  at::Tensor parameter, gradient;  // the gradient with its weight decay
  ParameterState& state;           // whose step counts this one already
  const OptimizerOptions& options;
};

// What an optimizer is made from.
struct OptimizerContext {
  OptimizerInfo info;  // its name, and its settings if it has some
  std::vector<torch::optim::OptimizerParamGroup> groups;
  std::shared_ptr<Tap> tap = {};  // or the Head itself; not needed for a constant rate
  ControllerOptions rate = {};
  OptimizerOptions defaults = {};        // of groups without options of their own
  std::vector<at::Tensor> buffers = {};  // that count in max ||w||, as in the authors' code
};

// All state of an optimizer and its rate. The tensors share memory with it: write them before the next step.
struct OptimizerSnapshot {
  NamedTensors tensors = {};  // "group.parameter.name", "own.name"
  std::string json = {};
};

class Optimizer : public torch::optim::Optimizer {
 public:
  using Groups = std::vector<torch::optim::OptimizerParamGroup>;
  explicit Optimizer(OptimizerContext context);  // throws Error (usage)

  // Parameters without a gradient are left alone. A closure, as libtorch's optimizers take one, is called first.
  at::Tensor step(LossClosure closure = nullptr) override;
  void step(double loss);  // likewise, when the loss is known already

  RateController& controller() { return controller_; }
  const RateController& controller() const { return controller_; }

  OptimizerSnapshot snapshot() const;
  // Takes over state and options. Throws Error (data), and changes nothing, unless it is the snapshot of an optimizer
  // of the same name with parameters of the same shapes, and every number in it makes sense.
  void restore(const OptimizerSnapshot& snapshot);
  // The same as a libtorch archive, for torch::save and torch::load; load only what you trust, an archive can hold
  // code.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  virtual void update(const OptimizerStep& step) = 0;
  // Before the updates of a step: what takes all parameters together, such as the norm of the whole gradient.
  virtual void begin_updates(const std::vector<OptimizerStep>& /*all*/) {}
  virtual void end_updates() {}                          // after them
  virtual bool decays_gradient() const { return true; }  // false: update() does the weight decay
  // The weights to evaluate and to use in place of the trained ones, such as an average (evaluation_weights.hpp).
  virtual at::Tensor evaluation_weights(const at::Tensor& parameter, const ParameterState& /*state*/) const {
    return parameter;
  }

  double loss() const;  // of this step; throws Error (usage) when step() was not told
  // A number that belongs to no single parameter, saved with the state; the start at first.
  double& number(const std::string& name, double start);

  // State that is more than numbers, saved beside the rest. own_state_from() throws Error (data) when what was saved
  // can't be used and else returns what takes it over.
  virtual OptimizerSnapshot own_state() const { return {}; }
  virtual std::function<void()> own_state_from(const OptimizerSnapshot& saved);
  // Of the same shape and type as the other, and in its memory format; throws Error (data) when it can't be.
  static at::Tensor checked_copy(const at::Tensor& saved, const at::Tensor& like);
  using States = std::unordered_map<at::TensorImpl*, ParameterState>;
  States& states() { return states_; }
  const States& states() const { return states_; }

  const rate::RuleOptions& rule_options() const { return controller_.options().rule_options; }

 private:
  friend class EvaluationWeights;
  std::vector<OptimizerStep> begin_step();
  void take_step();

  OptimizerInfo info_;
  States states_;
  std::map<std::string, double> numbers_;
  std::optional<double> loss_;
  RateController controller_;
};

}  // namespace lipschitzlr::nn

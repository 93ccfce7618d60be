#pragma once
// The rate controller: sets the rate of each step of an optimizer by a rule of rate/, which it feeds with what the tap
// on the network's last layer measured. Every optimizer of nn/ has one; LipschitzRate is one for libtorch's own.
//
//   each step:  forward and backward pass;  controller.begin_step();  the optimizer's step;  controller.end_step();
//
// How often the rule is fed is settled by the options, so that no call can be forgotten: in every step or, with
// steps_per_epoch, once in so many steps with the largest norms of these. Only a caller that has said so
// (announces_epochs: the Trainer) calls end_epoch() itself.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/nn/tap.hpp"
#include "lipschitzlr/rate/registry.hpp"
#include "lipschitzlr/rate/schedule.hpp"
#include "lipschitzlr/rate/second_moment.hpp"

namespace torch::optim {
class Optimizer;
}

namespace lipschitzlr::nn {

struct ControllerOptions {
  std::string rule = {};  // constant, sgd, adamo, rmsprop, auto-adam; empty: the optimizer's
  // Without epochs its update is per iteration, and a first-epoch rate makes no sense.
  rate::RuleOptions rule_options = {};
  std::int64_t steps_per_epoch = 0;  // 0: no epochs
  bool announces_epochs = false;     // end_epoch() is called instead
  Loss loss = {};  // empty: cross-entropy over the outputs of the head, of which there are two or more
  bound::ConstantKind variant = bound::ConstantKind::published;
  // Take the tight constant of the batch (nn/tap.hpp) in place of the variant's: known after the backward pass only, so
  // not in a measuring pass.
  bool tight = false;
  rate::SecondMoment second_moment = rate::SecondMoment::without_weight_square;
  double l2 = 0;  // lambda of lambda/2 ||w||^2, as it enters the constant
  // Taken for G whatever is measured: the authors' AdaMo run on MNIST has the same G in every epoch, to 15 digits.
  std::optional<double> gradient_bound = {};
  // Multiplies the rate, decay included, of each step.
  rate::Schedule schedule = rate::Schedule::constant;
  std::uint64_t schedule_steps = 0;  // how long it lasts, warm-up included
  std::uint64_t warmup_steps = 0;
  double factor = 1;  // multiplies every rate
};

// The numbers of the latest observation, for logs; 0 when nothing is measured.
struct RateNumbers {
  double penultimate_norm = 0;  // K_z
  double weight_norm = 0;       // max ||w||
  double gradient_bound = 0;    // G
  double second_moment = 0;     // S
};

class RateController {
 public:
  // max ||w|| is the largest norm of a parameter of the optimizer or, as in the authors' code, of a buffer too. A rule
  // that measures nothing needs no tap. The optimizer must outlive the object. Throws Error (usage).
  RateController(torch::optim::Optimizer& optimizer, std::shared_ptr<Tap> tap, ControllerOptions options,
                 std::vector<at::Tensor> buffers = {});
  RateController(const RateController&) = delete;

  // With a communicator every process has the rate of the same bits: the tap must be given the norms of the whole
  // batch, and max ||w|| is that of rank 0. All make the same calls. The communicator must outlive the object.
  void join(Communicator* communicator) { communicator_ = communicator; }
  Communicator* communicator() const { return communicator_; }

  // After the forward pass of a step: feeds the rule when it is due, and sets the rate in every group of the optimizer.
  // Throws Error (usage) when there was no forward pass, or when something else has changed a group's rate.
  void begin_step();
  void end_step();      // counts the step: decay, schedule and epochs go by it
  double rate() const;  // of the current step, decay and schedule included
  void end_epoch();     // only of a caller that announces epochs
  void observe();       // feeds the rule with the tap's largest norms now: for a measuring pass of its own

  const RateNumbers& numbers() const { return numbers_; }
  const rate::Rule& rule() const { return *rule_; }
  const ControllerOptions& options() const { return options_; }
  std::uint64_t steps() const { return steps_; }
  Tap& tap() { return *tap_; }

  // All state as JSON: the rule's with its options, the tap's, the count of steps. What describes the loss is not in
  // it: that is the constructor's. load() throws Error (data) on anything else, and changes nothing then.
  std::string save() const;
  void load(const std::string& text);

 private:
  bool per_step() const { return options_.rule_options.update == rate::Update::per_iteration; }
  bool counts_epochs() const { return options_.steps_per_epoch > 0 && !options_.announces_epochs; }
  // batches: those that the norms are of.
  void feed(const PenultimateNorms& norms, std::span<const PenultimateNorms> batches);
  void finish_epoch();
  double weight_norm() const;
  bound::Constant constant_of(const PenultimateNorms& norms) const;

  torch::optim::Optimizer& optimizer_;
  std::shared_ptr<Tap> tap_;
  std::vector<at::Tensor> buffers_;
  ControllerOptions options_;
  std::unique_ptr<rate::Rule> rule_;
  RateNumbers numbers_;
  double tight_ = 0, largest_tight_ = 0;  // of the last batch, and since the epoch began
  bool whole_epoch_ = false;              // what is fed is of all its batches
  bool guessed_ = false;                  // the rate rests on the first batch only
  std::int64_t batches_fed_ = 0;          // what the tap had counted in the last step that looked
  std::uint64_t steps_ = 0;
  std::vector<double> rates_;  // as set in each group
  Communicator* communicator_ = nullptr;
};

// The largest Frobenius norm among the tensors, in double; NaN when one of them is.
double largest_norm(const std::vector<at::Tensor>& tensors);

}  // namespace lipschitzlr::nn

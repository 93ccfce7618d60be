#pragma once
// The rate controller: from what a tap measured to the learning rate of the next step, by a rule of rate/. Our own
// optimizers hold one; libtorch's SGD, Adam, AdamW and RMSprop are driven by one, so that a user keeps their optimizer:
//
//   RateController controller(head->tap(), model->parameters(), {.rule = "auto-adam", .loss = {.classes = 10}});
//   each step:   loss.backward();  controller.drive(optimizer);  optimizer.step();
//   each epoch:  controller.end_epoch();

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
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

enum class LossKind { multiclass, binary, regression };

// The loss behind the head, a mean over the batch: cross-entropy, binary cross-entropy, or half the squared distance.
struct LossDescription {
  LossKind kind = LossKind::multiclass;
  Index classes = 2;        // multiclass
  double output_bound = 0;  // regression: K_a, the largest norm of a batch's outputs
  double target_norm = 0;   // regression: the largest norm of a batch's targets
};

struct ControllerOptions {
  std::string rule = "sgd";  // sgd, adamo, rmsprop, auto-adam
  rate::RuleOptions rule_options = {};
  LossDescription loss = {};
  bound::ConstantKind variant = bound::ConstantKind::published;
  rate::SecondMoment second_moment = rate::SecondMoment::without_weight_square;
  double l2 = 0;  // lambda of lambda/2 ||w||^2, as it enters the constant
  // Taken for G whatever is measured: the authors' AdaMo run on MNIST has the same G in every epoch, to 15 digits.
  std::optional<double> gradient_bound = {};
  // Multiplies the rate, decay included, of each step. Meant for hand-chosen rates.
  rate::Schedule schedule = rate::Schedule::constant;
  std::uint64_t schedule_steps = 0;  // how long it lasts
};

// The numbers of the latest observation, for logs.
struct RateNumbers {
  double penultimate_norm = 0;  // K_z
  double weight_norm = 0;       // max ||w||
  double gradient_bound = 0;    // G
  double second_moment = 0;     // S
};

class RateController {
 public:
  // weights: the tensors whose largest norm is max ||w||: the parameters, as coded the buffers too. Throws Error
  // (usage).
  RateController(std::shared_ptr<Tap> tap, std::vector<at::Tensor> weights, ControllerOptions options);

  // In a team every process has the rate of the same bits: the tap must be given the norms of the whole batch, and max
  // ||w|| is that of rank 0. All make the same calls. The team must outlive the object.
  void join(Communicator* communicator) { communicator_ = communicator; }

  // After the forward pass of a step: feeds the rule when it recomputes per iteration or has no rate yet.
  void before_step();
  double rate() const;             // of the step at hand, decay and schedule included
  void after_step() { ++steps_; }  // decay counts steps
  void end_epoch();                // feeds a rule that recomputes per epoch with the largest norms of the epoch
  void observe();                  // feeds the rule with the tap's largest norms now: for a pass of its own

  // before_step(), then sets the rate in every group of any optimizer of libtorch, then after_step().
  void drive(torch::optim::Optimizer& optimizer);

  const RateNumbers& numbers() const { return numbers_; }
  const rate::Rule& rule() const { return *rule_; }
  const ControllerOptions& options() const { return options_; }
  std::uint64_t steps() const { return steps_; }
  Tap& tap() { return *tap_; }

  // The tensors whose largest norm is max ||w||, when there are others than at the start.
  void watch(std::vector<at::Tensor> weights) { weights_ = std::move(weights); }

  // All state as JSON: the rule's with its options, the tap's, the count of steps. The shape of the loss, l2 and the
  // variant are not in it: they are those of the constructor. load() throws Error (data) on anything else.
  std::string save() const;
  void load(const std::string& text);

 private:
  void feed(const PenultimateNorms& norms);
  double weight_norm() const;

  std::shared_ptr<Tap> tap_;
  std::vector<at::Tensor> weights_;
  ControllerOptions options_;
  std::unique_ptr<rate::Rule> rule_;
  RateNumbers numbers_;
  bool guessed_ = false;  // the rate rests on the first batch only
  std::uint64_t steps_ = 0;
  Communicator* communicator_ = nullptr;
};

// The largest Frobenius norm among the tensors, in double; NaN when one of them is.
double largest_norm(const std::vector<at::Tensor>& tensors);

}  // namespace lipschitzlr::nn

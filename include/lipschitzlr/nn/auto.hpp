#pragma once
// The automatic optimizer: nothing to set. Its rate is computed, grown, frozen and brought to 0 by rate::Auto
// (rate/auto.hpp has the formulas); its direction is Adam's with Nesterov's momentum. With t the steps of a parameter:
//   m <- 0.9 m + 0.1 g;   v <- 0.995 v + 0.005 g^2
//   w <- w - rate (0.9 m / (1 - 0.9^(t+1)) + 0.1 g / (1 - 0.9^t)) / (sqrt(v / (1 - 0.995^t)) + 1e-8)
// Beside it runs an average of the weights, a <- a + 9/(t+8) (w - a). It is what is evaluated when the number of steps
// is not known, and wherever use_average() says so; EvaluationWeights puts it in place.
//
//   Auto optimizer(*model, head, {.total_steps = 1000});       // head: where the last Linear stood
//   each step:  optimizer.zero_grad();  loss.backward();  optimizer.step(loss.item<double>());
//
// When the guard of the rule sends the weights back, they, their averages and the buffers of the model (the running
// statistics of batch norm) are restored from one of three copies that are kept: the start and the last two
// snapshots, which takes seven times the memory of the weights. g is the gradient with its weight decay; the rule
// looks at the gradient without it, because the loss is without it.

#include <torch/nn/module.h>

#include "lipschitzlr/nn/optimizer.hpp"
#include "lipschitzlr/rate/auto.hpp"

namespace lipschitzlr::nn {

struct AutoOptions {
  std::uint64_t total_steps = 0;         // 0: not known; the rate then stays, and the average is evaluated
  OptimizerOptions defaults = {};        // of groups without options of their own
  std::vector<at::Tensor> buffers = {};  // of the model; filled in when the model itself is given
  rate::AutoParts parts = {};            // for ablations
};

class Auto : public Optimizer {
 public:
  // Without a tap of the head only the measured constant counts, and there is no certificate.
  Auto(Groups groups, std::shared_ptr<Tap> tap, const AutoOptions& options = {});
  Auto(const torch::nn::Module& model, std::shared_ptr<Tap> tap, AutoOptions options = {});
  explicit Auto(OptimizerContext context);  // its rate's schedule_steps are total_steps

  // step(loss) throws Error (usage) without a forward and a backward pass since the last one, when the loss is
  // negative, and after total_steps; Error (training) when a loss is not finite after 12 rollbacks.

  const rate::Auto& rule() const { return rule_; }
  // A sentence about the last step, when there is something to say: what the first one measured, why weights went back.
  const std::string& remark() const { return remark_; }
  void use_average(bool average) { average_ = average; }
  bool uses_average() const { return average_; }

 protected:
  void begin_updates(const std::vector<OptimizerStep>& all) override;
  void update(const OptimizerStep& step) override;
  void end_updates() override;
  at::Tensor evaluation_weights(const at::Tensor& parameter, const ParameterState& state) const override;
  OptimizerSnapshot own_state() const override;
  std::function<void()> own_state_from(const OptimizerSnapshot& saved) override;

 private:
  Auto(OptimizerContext context, const rate::AutoParts& parts);

  // All that goes back; tensors of a parameter without steps are undefined.
  struct Kept {
    struct Parameter {
      at::Tensor weights = {}, average = {}, squares = {};
      std::int64_t steps = 0;
    };
    std::vector<Parameter> parameters;
    std::vector<at::Tensor> buffers;
  };

  std::vector<at::Tensor> parameters() const;
  void expect_passes(const std::vector<OptimizerStep>& all, const HeadReading& head);
  std::optional<rate::AutoNorms> norms(const std::vector<OptimizerStep>& all, const HeadReading& head) const;
  Kept start() const;
  Kept now() const;
  void put_back(const Kept& kept);

  std::vector<at::Tensor> buffers_;
  rate::Auto rule_;
  rate::AutoDecision decision_;
  std::vector<Kept> kept_;  // the start, then what the rule has kept, the older first
  std::string remark_;
  bool average_ = false;
  std::int64_t batches_ = 0;  // that the tap had seen at the last step
};

}  // namespace lipschitzlr::nn

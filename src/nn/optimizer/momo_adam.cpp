// MoMo-Adam: Schaipp, Ohana, Eickenberg, Defazio, Gower, MoMo: Momentum Models for Adaptive Learning Rates, arXiv
// 2305.07583. Adam whose rate is cut where a model of the loss f, never below lower_bound, says so. f, the products and
// the norm are over all parameters; D = sqrt(v / (1 - beta2^t)) + epsilon, o = 1 - beta1^t:
//   m <- beta1 m + (1-beta1) g;   v <- beta2 v + (1-beta2) g^2
//   F <- beta1 F + (1-beta1) f;   q <- beta1 q + (1-beta1) <g, w>
//   w <- w - min(lr / o, max(0, F - o lower_bound + <m, w> - q) / <m, m / D>) m / D

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/sums.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class MomoAdam : public Optimizer {
  using Optimizer::Optimizer;

  void begin_updates(const std::vector<OptimizerStep>& all) override {
    if (all.empty()) return;
    const OptimizerOptions& first = all.front().options;
    const double beta1 = first.at("beta1");
    double product = 0, along = 0, norm = 0;
    for (const OptimizerStep& one : all) {
      const at::Tensor& average = average_into(one.state.zeros("average", one.gradient), one.gradient, beta1);
      average_squares_into(one.state.zeros("squares", one.gradient), one.gradient, one.options.at("beta2"));
      product += inner_product(one.gradient, one.parameter);
      along += inner_product(average, one.parameter);
      norm += inner_product(average, average / divisor(one));
    }
    double &loss_average = number("loss", 0), &products = number("products", 0), &weight = number("weight", 0);
    loss_average = beta1 * loss_average + (1 - beta1) * loss();
    products = beta1 * products + (1 - beta1) * product;
    weight = beta1 * weight + (1 - beta1);  // 1 - beta1^t
    weight_ = weight;
    const double above = std::max(0.0, loss_average - weight * first.at("lower_bound") + along - products);
    largest_ = norm > 0 ? above / norm : 0;
  }

  void update(const OptimizerStep& step) override {
    const double size = std::min(step.options.lr() / weight_, largest_);
    step.parameter.addcdiv_(step.state.tensors.at("average"), divisor(step), -size);
  }

  static at::Tensor divisor(const OptimizerStep& step) {
    return root(step.state.tensors.at("squares"), bias_divisor(step.options.at("beta2"), step),
                step.options.at("epsilon"));
  }

  double weight_ = 0, largest_ = 0;  // of this step: o, and the bound of its size
};

}  // namespace

Entry momo_adam() {
  return entry<MomoAdam>({.name = "momo-adam",
                          .summary = "Adam whose rate is cut by a model of the loss",
                          .rate = 0.01,
                          .paper = "Schaipp et al.: MoMo: Momentum Models for Adaptive Learning Rates, 2023",
                          .settings = with(adam_settings(0.9, 0.999),
                                           {"lower_bound", 0, SettingRange::not_negative, "below which no loss is"})});
}

}  // namespace lipschitzlr::nn::optimizer

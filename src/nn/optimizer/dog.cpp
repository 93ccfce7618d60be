// DoG, distance over gradients: Ivgi, Hinder, Carmon, DoG is SGD's Best Friend, arXiv 2302.12022. Over all parameters:
//   r <- max(r, ||w - w0||), at first relative_start (1 + ||w0||);   G <- G + ||g||^2, at first epsilon
//   w <- w - lr r / sqrt(G) g
// What is evaluated is the average with polynomial decay that the paper uses, t counting the steps from 1:
//   a <- a + (1 + gamma) / (t + gamma) (w - a)

#include "nn/optimizer/registry_entry.hpp"
#include "nn/optimizer/step_helpers.hpp"
#include "nn/optimizer/sums.hpp"

namespace lipschitzlr::nn::optimizer {
namespace {

class DoG : public Optimizer {
  using Optimizer::Optimizer;

  void begin_updates(const std::vector<OptimizerStep>& all) override {
    if (all.empty()) return;
    double start = 0, moved = 0, square = 0;
    for (const OptimizerStep& one : all) {
      start += sum_of_squares(start_of(one));
      moved += sum_of_squares(one.parameter - start_of(one));
      square += sum_of_squares(one.gradient);
    }
    const OptimizerOptions& first = all.front().options;
    double& distance = number("distance", first.at("relative_start") * (1 + std::sqrt(start)));
    double& gradients = number("gradients", first.at("epsilon"));
    distance = std::max(distance, std::sqrt(moved));
    gradients += square;
    rate_ = gradients > 0 ? distance / std::sqrt(gradients) : 0;
  }

  void update(const OptimizerStep& step) override {
    const double gamma = step.options.at("gamma");
    step.parameter.sub_(step.gradient, step.options.lr() * rate_);
    at::Tensor& average = step.state.tensors["average"];
    if (!average.defined()) average = step.parameter.detach().clone();
    average.lerp_(step.parameter, (1 + gamma) / (static_cast<double>(step.state.step) + gamma));
  }

  at::Tensor evaluation_weights(const at::Tensor& parameter, const ParameterState& state) const override {
    const auto average = state.tensors.find("average");
    return average == state.tensors.end() ? parameter : average->second;
  }

  double rate_ = 0;  // of this step, before the group's
};

}  // namespace

Entry dog() {
  return entry<DoG>(
      {.name = "dog",
       .summary = "SGD by distance over gradients, its average evaluated",
       .rate = 1,
       .paper = "Ivgi, Hinder, Carmon: DoG is SGD's Best Friend: A Parameter-Free Dynamic Step Size Schedule, 2023",
       .settings = {{"relative_start", 1e-6, SettingRange::positive,
                     "the first distance, a share of 1 and the start weights' norm together"},
                    {"epsilon", 1e-8, SettingRange::not_negative, "the sum of squares at the start"},
                    {"gamma", 8, SettingRange::not_negative, "how much of the average is of late steps"}}});
}

}  // namespace lipschitzlr::nn::optimizer

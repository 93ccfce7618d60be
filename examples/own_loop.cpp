// A training loop of your own with a rate that is computed: your model, your data, your loss. Two lines differ from any
// other libtorch program: the last layer is a Head, and the optimizer is ours.

#include <torch/torch.h>

#include <cstdio>

#include "lipschitzlr/nn/head.hpp"
#include "lipschitzlr/nn/optimizers.hpp"

using namespace lipschitzlr;

struct Model : torch::nn::Module {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(2, 32));
  nn::Head head = register_module("head", nn::Head(32, 3));  // instead of torch::nn::Linear

  torch::Tensor forward(const torch::Tensor& x) { return head(torch::tanh(hidden(x))); }
};

// Three arms of a spiral, 300 points each.
std::pair<torch::Tensor, torch::Tensor> spiral() {
  const torch::Tensor radius = torch::linspace(0.1, 1, 300).repeat({3});
  const torch::Tensor arm = torch::arange(3).repeat_interleave(300);
  const torch::Tensor angle = 4 * radius + 2.0944 * arm + 0.1 * torch::randn({900});
  return {torch::stack({radius * angle.cos(), radius * angle.sin()}, 1), arm};
}

int main() {
  torch::manual_seed(1);
  const auto [points, classes] = spiral();
  Model model;

  // No learning rate: it is computed from what the head measures.
  nn::ControllerOptions rates;
  rates.rule_options = {.bias_correction = true};
  rates.loss.classes = 3;
  nn::AdaMo optimizer(model.parameters(), model.head->tap(), rates, nn::LipschitzOptions().bias_correction(true));

  for (int epoch = 1; epoch <= 60; ++epoch) {
    double loss_sum = 0;
    for (const torch::Tensor& batch : torch::randperm(900).split(50)) {
      optimizer.zero_grad();
      const torch::Tensor loss =
          torch::nn::functional::cross_entropy(model.forward(points.index({batch})), classes.index({batch}));
      loss.backward();
      optimizer.step();
      loss_sum += loss.item<double>();
    }
    optimizer.end_epoch();
    if (epoch % 20 == 0) {
      const auto& numbers = optimizer.controller().numbers();
      std::printf("epoch %d  loss %.4f  rate %.3f  K_z %.2f\n", epoch, loss_sum / 18, optimizer.controller().rate(),
                  numbers.penultimate_norm);
    }
  }
  const double accuracy = model.forward(points).argmax(1).eq(classes).to(torch::kDouble).mean().item<double>();
  std::printf("accuracy %.1f %%\n", 100 * accuracy);
}

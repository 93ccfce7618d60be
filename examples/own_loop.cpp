// A training loop of your own with a computed rate: your model, your data, your loss, libtorch's optimizer. Two lines
// differ from any other libtorch program, and no learning rate has to be found.

#include <torch/torch.h>

#include <cstdio>
#include <lipschitzlr/torch.hpp>

int main() {
  torch::manual_seed(1);
  // Three arms of a spiral, 300 points each.
  const auto radius = torch::linspace(0.1, 1, 300).repeat({3}), arm = torch::arange(3).repeat_interleave(300);
  const auto angle = 4 * radius + 2.0944 * arm + 0.1 * torch::randn({900});
  const auto points = torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);

  lipschitzlr::nn::Head head(32, 3);  // instead of torch::nn::Linear: it measures what it is given
  torch::nn::Sequential model(torch::nn::Linear(2, 32), torch::nn::Tanh(), head);
  torch::optim::SGD sgd(model->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  lipschitzlr::nn::LipschitzRate rate(sgd, head);  // sets the rate of every step
  for (int epoch = 0; epoch < 60; ++epoch) {
    for (const auto& batch : torch::randperm(900).split(50)) {
      sgd.zero_grad();
      torch::cross_entropy_loss(model->forward(points.index({batch})), arm.index({batch})).backward();
      rate.step();  // instead of sgd.step()
    }
  }
  const double right = model->forward(points).argmax(1).eq(arm).to(torch::kDouble).mean().item<double>();
  std::printf("accuracy %.1f %%, rate %.3f\n", 100 * right, rate.rate());
}

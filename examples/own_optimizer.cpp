// An optimizer of your own: update() is one step of one parameter. All else, and the computed rate, is the base class's.

#include <torch/torch.h>

#include <cstdio>
#include <lipschitzlr/torch.hpp>

struct SignAverage : lipschitzlr::nn::Optimizer {
  SignAverage(std::vector<at::Tensor> parameters, const lipschitzlr::nn::Head& head)
      : Optimizer({{.name = "sign-average"}, {parameters}, head, {.rule = "adamo", .factor = 0.001}}) {}
  void update(const lipschitzlr::nn::OptimizerStep& step) override {
    const auto average = step.state.zeros("average", step.gradient).mul_(0.9).add_(step.gradient, 0.1);
    step.parameter.sub_(average.sign(), step.options.lr());
  }
};

int main() {
  torch::manual_seed(1);
  const auto points = torch::randn({600, 2}), ring = points.norm(2, {1}).gt(1.2).to(torch::kLong);  // inside or outside
  lipschitzlr::nn::Head head(16, 2);
  torch::nn::Sequential model(torch::nn::Linear(2, 16), torch::nn::ReLU(), head);
  SignAverage optimizer(model->parameters(), head);
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    torch::cross_entropy_loss(model->forward(points), ring).backward();
    optimizer.step();
  }
  const double right = model->forward(points).argmax(1).eq(ring).to(torch::kDouble).mean().item<double>();
  std::printf("accuracy %.1f %%\n", 100 * right);
}

// The C++ half of python/tests/test_agreement.py: reads a start and batches from the file it is given, takes a step per
// batch with each optimizer, and prints as JSON what every step had: rate, constants (K_z, max ||w||, G
// and S; of Auto F, L_inf, H, P and Hb) and loss. As one of several processes (RANK, WORLD_SIZE) it takes its share of
// each batch, as DistributedDataParallel does in Python. The cases are those of python/tests/agreement_loop.py.

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tanh.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/connect.hpp"
#include "lipschitzlr/nn/auto.hpp"
#include "lipschitzlr/nn/head.hpp"
#include "lipschitzlr/nn/lipschitz_rate.hpp"
#include "lipschitzlr/nn/optimizers.hpp"

namespace lipschitzlr::nn {
namespace {

struct Batch {
  at::Tensor images, labels;
};

struct Problem {
  std::vector<at::Tensor> start;  // weight and bias of each layer
  std::vector<Batch> batches;
};

at::Tensor read_tensor(std::istream& file, std::vector<std::int64_t> sizes) {
  at::Tensor tensor = at::empty(sizes, at::kDouble);
  file.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
  if (!file) throw Error(Fault::data, "the file of start and batches is cut short");
  return tensor;
}

Problem read_problem(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const at::Tensor sizes = read_tensor(file, {5});
  const auto size = [&](int i) { return static_cast<std::int64_t>(sizes.data_ptr<double>()[i]); };
  const std::int64_t width = size(0), hidden = size(1), classes = size(2), rows = size(3), steps = size(4);
  Problem problem;
  for (const auto& shape :
       std::vector<std::vector<std::int64_t>>{{hidden, width}, {hidden}, {classes, hidden}, {classes}}) {
    problem.start.push_back(read_tensor(file, shape));
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    const at::Tensor images = read_tensor(file, {rows, width});
    problem.batches.push_back({images, read_tensor(file, {rows}).to(at::kLong)});
  }
  return problem;
}

struct Model {
  torch::nn::Linear hidden;
  Head head;
  std::vector<at::Tensor> parameters;

  explicit Model(const Problem& problem)
      : hidden(problem.start[0].size(1), problem.start[0].size(0)),
        head(problem.start[2].size(1), problem.start[2].size(0)) {
    hidden->to(at::kDouble);
    head->to(at::kDouble);
    parameters = hidden->parameters();
    for (const at::Tensor& parameter : head->parameters()) parameters.push_back(parameter);
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(problem.start[i]);
  }
};

// An optimizer with its rate, ours or libtorch's.
struct Driver {
  std::function<void(double)> step;  // with the loss
  std::function<double()> rate;      // that the last step had
  std::function<std::vector<double>()> constants;
  std::function<std::string()> save;
};

std::vector<double> constants_of(const RateNumbers& now) {
  return {now.penultimate_norm, now.weight_norm, now.gradient_bound, now.second_moment};
}

double rate_in(const torch::optim::Optimizer& optimizer) { return optimizer.param_groups()[0].options().get_lr(); }

using Make = std::function<Driver(Model&, Communicator*)>;

template <class Kind>
Make own(const ControllerOptions& options = {}, double weight_decay = 0) {
  return [=](Model& model, Communicator* communicator) {
    const auto optimizer =
        std::make_shared<Kind>(model.parameters, model.head, options, OptimizerOptions().weight_decay(weight_decay));
    optimizer->controller().join(communicator);
    return Driver{[=](double) { optimizer->step(); }, [=] { return rate_in(*optimizer); },
                  [=] { return constants_of(optimizer->controller().numbers()); },
                  [=] { return optimizer->controller().save(); }};
  };
}

Make automatic(std::uint64_t total_steps, double weight_decay = 0) {
  return [=](Model& model, Communicator* communicator) {
    AutoOptions options{.total_steps = total_steps};
    options.defaults.weight_decay(weight_decay);
    const auto optimizer = std::make_shared<Auto>(Optimizer::Groups{model.parameters}, model.head, options);
    optimizer->controller().join(communicator);
    return Driver{[=](double loss) { optimizer->step(loss); }, [=] { return optimizer->rule().numbers().rate; },
                  [=] {
                    const rate::AutoNumbers& now = optimizer->rule().numbers();
                    return std::vector<double>{
                        now.loss,          now.gradient,         now.head,
                        now.measured_rate, now.closed_form_rate, static_cast<double>(now.rollbacks)};
                  },
                  [=] { return optimizer->rule().save(); }};
  };
}

template <class Kind, class Options>
Make driven(const Options& options) {
  return [=](Model& model, Communicator* communicator) {
    const auto optimizer = std::make_shared<Kind>(model.parameters, options);
    const auto rate = std::make_shared<LipschitzRate>(*optimizer, model.head);
    rate->join(communicator);
    return Driver{[=](double) { rate->step(); }, [=] { return rate_in(*optimizer); },
                  [=] { return constants_of(rate->numbers()); }, [=] { return rate->save(); }};
  };
}

std::vector<std::pair<std::string, Make>> cases() {
  const ControllerOptions epochs{.rule_options = {.bias_correction = true, .decay = 0.1, .first_rate = 0.1},
                                 .steps_per_epoch = 5,
                                 .variant = bound::ConstantKind::certified,
                                 .second_moment = rate::SecondMoment::coded,
                                 .l2 = 0.01};
  const ControllerOptions each_step{.second_moment = rate::SecondMoment::elementwise, .l2 = 0.01};
  ControllerOptions elementwise = epochs, fixed = epochs;
  elementwise.second_moment = rate::SecondMoment::elementwise;
  fixed.second_moment = rate::SecondMoment::full_square;
  fixed.rule_options.fixed = true;
  fixed.rule_options.first_rate.reset();
  ControllerOptions coded = fixed;
  coded.second_moment = rate::SecondMoment::coded_full_square;
  namespace optim = torch::optim;
  return {
      {"sgd", own<LipschitzSGD>()},
      {"adamo", own<AdaMo>()},
      {"rmsprop", own<AdaptiveRMSprop>()},
      {"auto-adam", own<AutoAdam>()},
      {"sgd epochs", own<LipschitzSGD>(epochs, 0.01)},
      {"adamo epochs", own<AdaMo>(epochs, 0.01)},
      {"rmsprop epochs", own<AdaptiveRMSprop>(epochs, 0.01)},
      {"auto-adam epochs", own<AutoAdam>(epochs, 0.01)},
      {"auto-adam elementwise", own<AutoAdam>(each_step, 0.01)},
      {"auto-adam elementwise epochs", own<AutoAdam>(elementwise, 0.01)},
      {"adamo fixed", own<AdaMo>(fixed, 0.01)},
      {"auto-adam fixed", own<AutoAdam>(coded, 0.01)},
      {"auto", automatic(30)},
      {"auto without end", automatic(0, 0.01)},
      {"torch SGD", driven<optim::SGD>(optim::SGDOptions(1))},
      {"torch SGD momentum", driven<optim::SGD>(optim::SGDOptions(1).momentum(0.9))},
      {"torch Adam", driven<optim::Adam>(optim::AdamOptions())},
      {"torch AdamW", driven<optim::AdamW>(optim::AdamWOptions())},
      {"torch RMSprop", driven<optim::RMSprop>(optim::RMSpropOptions())},
  };
}

// Forward and backward pass over this process's share of the batch; the loss, the gradients and what the tap has are
// then those of the whole batch.
double pass(Model& model, const Batch& batch, Communicator* communicator) {
  const Index rows = batch.images.size(0);
  const auto [begin, end] = communicator == nullptr ? std::pair<Index, Index>(0, rows)
                                                    : share_of(rows, communicator->rank(), communicator->size());
  for (const at::Tensor& parameter : model.parameters) parameter.mutable_grad().reset();
  PenultimateNorms norms;
  if (communicator != nullptr) model.head->tap()->divert(&norms);
  const at::Tensor scores = model.head(at::tanh(model.hidden(batch.images.slice(0, begin, end))));
  const double share = static_cast<double>(end - begin) / static_cast<double>(rows);
  const at::Tensor loss = at::cross_entropy_loss(scores, batch.labels.slice(0, begin, end)) * share;
  loss.backward();
  model.head->tap()->divert(nullptr);
  if (communicator == nullptr) return loss.item<double>();
  for (const at::Tensor& parameter : model.parameters) {
    const at::Tensor& gradient = parameter.grad();
    communicator->sum(std::span(gradient.data_ptr<double>(), static_cast<std::size_t>(gradient.numel())));
  }
  std::vector<double> sums = {norms.frobenius * norms.frobenius,
                              norms.row_norm_sum,
                              norms.square_frobenius * norms.square_frobenius,
                              static_cast<double>(norms.rows),
                              norms.sum,
                              norms.cube_sum,
                              loss.item<double>()};
  communicator->sum(sums);
  norms.frobenius = std::sqrt(sums[0]);
  norms.row_norm_sum = sums[1];
  norms.square_frobenius = std::sqrt(sums[2]);
  norms.rows = static_cast<Index>(sums[3]);
  norms.sum = sums[4];
  norms.cube_sum = sums[5];
  model.head->tap()->add(norms);
  return sums[6];
}

void run(const char* path) {
  const Problem problem = read_problem(path);
  const auto world = dist::world_env();
  const std::unique_ptr<Communicator> communicator = world ? dist::connect(*world) : nullptr;
  const char* joint = "{";
  for (const auto& [name, make] : cases()) {
    Model model(problem);
    const Driver driver = make(model, communicator.get());
    std::printf("%s\"%s\": {\"steps\": ", joint, name.c_str());
    joint = "[";
    for (const Batch& batch : problem.batches) {
      const double loss = pass(model, batch, communicator.get());
      driver.step(loss);
      std::printf("%s[%.17g", joint, driver.rate());
      for (const double constant : driver.constants()) std::printf(", %.17g", constant);
      std::printf(", %.17g]", loss);
      joint = ",\n";
    }
    std::printf("], \"state\": %s}", driver.save().c_str());
  }
  std::puts("}");
}

}  // namespace
}  // namespace lipschitzlr::nn

int main(int argc, char** argv) try {
  if (argc != 2) throw lipschitzlr::Error(lipschitzlr::Fault::usage, "name the file of start and batches");
  lipschitzlr::nn::run(argv[1]);
} catch (const std::exception& error) {
  std::fprintf(stderr, "python_agreement: %s\n", error.what());
  return 1;
}

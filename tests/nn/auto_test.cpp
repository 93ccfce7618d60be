// The automatic optimizer: against softmax regression written out number by number, its rollbacks, its state, what it
// refuses, and trainings that start badly.
#include "lipschitzlr/nn/auto.hpp"

#include <gtest/gtest.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/serialize.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/nn/evaluation_weights.hpp"
#include "lipschitzlr/nn/head.hpp"

namespace lipschitzlr::nn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string words_of_error(const std::function<void()>& call, Fault fault) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) all.push_back(tensor.detach().clone());
  return all;
}

bool same_bits(const std::vector<at::Tensor>& one, const std::vector<at::Tensor>& other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!at::equal(one[i], other[i])) return false;
  }
  return one.size() == other.size();
}

// ---- Softmax regression by hand.

constexpr int kSlowRows = 6, kSlowColumns = 4, kSlowClasses = 3;

struct SlowBatch {
  double x[kSlowRows][kSlowColumns];
  int label[kSlowRows];
};

SlowBatch batch_of_step(int step) {
  Random random(static_cast<std::uint64_t>(step));
  SlowBatch batch;
  for (int i = 0; i < kSlowRows; ++i) {
    batch.label[i] = i % kSlowClasses;
    for (double& value : batch.x[i]) value = random.normal() + (batch.label[i] == 1 ? 1 : 0);
  }
  return batch;
}

// Everything of the past is kept, and every average is a sum over it.
struct SlowAuto {
  static constexpr int kWeights = kSlowClasses * kSlowColumns, kAll = kWeights + kSlowClasses;
  int total;
  std::vector<double> w;
  std::vector<std::vector<double>> gradients = {};
  std::vector<double> losses = {}, norms = {}, heads = {}, estimates = {};
  double base = 0, rate = 0;

  static double average(const std::vector<double>& values) {
    double sum = std::pow(0.9, static_cast<double>(values.size()) - 1) * values[0];
    for (std::size_t i = 1; i < values.size(); ++i) {
      sum += 0.1 * std::pow(0.9, static_cast<double>(values.size() - 1 - i)) * values[i];
    }
    return sum;
  }

  void step(const SlowBatch& batch) {
    std::vector<double> g(kAll);
    double loss = 0, head = 0;
    for (int i = 0; i < kSlowRows; ++i) {
      double scores[kSlowClasses], sum = 0, size = 0, away = 0;
      for (int k = 0; k < kSlowClasses; ++k) {
        scores[k] = w[static_cast<std::size_t>(kWeights + k)];
        for (int j = 0; j < kSlowColumns; ++j)
          scores[k] += w[static_cast<std::size_t>(k * kSlowColumns + j)] * batch.x[i][j];
        sum += std::exp(scores[k]);
      }
      for (const double value : batch.x[i]) size += std::abs(value);
      for (int k = 0; k < kSlowClasses; ++k) {
        const double dz = (std::exp(scores[k]) / sum - (k == batch.label[i] ? 1 : 0)) / kSlowRows;
        away += std::abs(dz);
        g[static_cast<std::size_t>(kWeights + k)] += dz;
        for (int j = 0; j < kSlowColumns; ++j) g[static_cast<std::size_t>(k * kSlowColumns + j)] += dz * batch.x[i][j];
      }
      loss += (std::log(sum) - scores[batch.label[i]]) / kSlowRows;
      head += away * size;
    }
    double norm = 0;
    for (const double value : g) norm += std::abs(value);
    losses.push_back(loss);
    norms.push_back(norm);
    heads.push_back(head);
    gradients.push_back(g);
    move(loss, head);
  }

  void move(double loss, double head) {
    const auto t = static_cast<int>(losses.size());
    const int window = 25;  // of 60 steps
    if (t <= window) {
      estimates.push_back(std::log(std::max(average(losses) / (std::sqrt(std::acos(-1.0) / 2) * average(norms)),
                                            average(losses) / average(heads))));
    }
    double estimate = 0;
    for (const double one : estimates) estimate += one / static_cast<double>(estimates.size());
    if (t == 1) base = loss / (64 * head);
    base = std::min(std::exp(t <= window ? estimates.back() : estimate), 1.3 * base);
    rate = base * (1 - static_cast<double>(t) / total);
    for (std::size_t i = 0; i < w.size(); ++i) {
      double m = 0, v = 0;
      for (int s = 1; s <= t; ++s) {
        const double g = gradients[static_cast<std::size_t>(s - 1)][i];
        m += 0.1 * std::pow(0.9, t - s) * g;
        v += 0.005 * std::pow(0.995, t - s) * g * g;
      }
      const double ahead = 0.9 * m / (1 - std::pow(0.9, t + 1)) + 0.1 * gradients.back()[i] / (1 - std::pow(0.9, t));
      w[i] -= rate * ahead / (std::sqrt(v / (1 - std::pow(0.995, t))) + 1e-8);
    }
  }
};

TEST(AutoOptimizer, TakesTheStepsOfTheDefinition) {
  torch::manual_seed(1);
  Head head(kSlowColumns, kSlowClasses);
  head->to(torch::kDouble);
  Auto optimizer(*head, head, {.total_steps = 60});
  SlowAuto slow{.total = 60, .w = {}};
  for (const at::Tensor& parameter : head->parameters()) {
    const double* const begin = parameter.data_ptr<double>();
    slow.w.insert(slow.w.end(), begin, begin + parameter.numel());
  }
  for (int step = 1; step <= 60; ++step) {
    const SlowBatch batch = batch_of_step(step);
    std::vector<std::int64_t> labels(batch.label, batch.label + kSlowRows);
    const at::Tensor x = torch::from_blob(const_cast<double*>(batch.x[0]), {kSlowRows, kSlowColumns}, torch::kDouble);
    optimizer.zero_grad();
    const at::Tensor loss = torch::nn::functional::cross_entropy(head->forward(x), torch::tensor(labels));
    loss.backward();
    optimizer.step(loss.item<double>());
    slow.step(batch);
    ASSERT_NEAR(optimizer.rule().numbers().rate, slow.rate, 1e-10 * slow.rate) << step;
    std::size_t i = 0;
    for (const at::Tensor& parameter : head->parameters()) {
      for (std::int64_t k = 0; k < parameter.numel(); ++k, ++i) {
        ASSERT_NEAR(parameter.data_ptr<double>()[k], slow.w[i], 1e-10) << step;
      }
    }
  }
  EXPECT_EQ(optimizer.rule().numbers().head_checks, 25u + 4u);  // calibration, and steps 30, 40, 50, 60
}

// ---- A network with batch norm, and steps of it.

struct NormNet : torch::nn::Module {
  NormNet(std::int64_t seed, std::int64_t inputs = 5, std::int64_t width = 8) {
    torch::manual_seed(static_cast<std::uint64_t>(seed));
    first = register_module("first", torch::nn::Linear(inputs, width));
    norm = register_module("norm", torch::nn::BatchNorm1d(width));
    head = register_module("head", Head(width, 3));
  }
  at::Tensor forward(const at::Tensor& x) { return head->forward(norm->forward(first->forward(x)).relu()); }

  torch::nn::Linear first{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  Head head{nullptr};
};

// A batch that depends on the step alone.
std::pair<at::Tensor, at::Tensor> examples(int step, std::int64_t count = 16, std::int64_t inputs = 5) {
  Random random(static_cast<std::uint64_t>(1000 + step));
  const at::Tensor x = torch::empty({count, inputs}), y = torch::empty({count}, torch::kLong);
  for (std::int64_t i = 0; i < count; ++i) {
    y.data_ptr<std::int64_t>()[i] = i % 3;
    for (std::int64_t j = 0; j < inputs; ++j) {
      x.data_ptr<float>()[i * inputs + j] = static_cast<float>(random.normal() + (j == i % 3 ? 2 : 0));
    }
  }
  return {x, y};
}

// The loss said to the optimizer may be another one than the true.
double train_step(NormNet& net, Auto& optimizer, int step, std::optional<double> said = {}) {
  const auto [x, y] = examples(step);
  optimizer.zero_grad();
  const at::Tensor loss = torch::nn::functional::cross_entropy(net.forward(x), y);
  loss.backward();
  optimizer.step(said.value_or(loss.item<double>()));
  return loss.item<double>();
}

TEST(AutoOptimizer, LowersTheLossAndTheHeadKeepsItsCertificate) {
  NormNet net(1);
  Auto optimizer(net, net.head, {.total_steps = 200});
  const double first = train_step(net, optimizer, 1);
  EXPECT_NE(optimizer.remark().find("L_inf = "), std::string::npos) << optimizer.remark();
  double last = 0;
  for (int step = 2; step <= 200; ++step) last = train_step(net, optimizer, step);
  EXPECT_LT(last, 0.5 * first);
  EXPECT_EQ(optimizer.remark(), "");
  EXPECT_EQ(optimizer.rule().numbers().head_excesses, 0u);
  EXPECT_GT(optimizer.rule().numbers().largest_head_ratio, 0.01);
  EXPECT_NE(optimizer.rule().certificate().find("never exceeded"), std::string::npos);
}

TEST(AutoOptimizer, AnEarlyRollbackPutsBackWeightsAndStatisticsOfTheStart) {
  NormNet net(2);
  const std::vector<at::Tensor> weights = copies(net.parameters());
  Auto optimizer(net, net.head, {.total_steps = 200});
  train_step(net, optimizer, 1);
  const std::vector<at::Tensor> statistics = copies(net.buffers());  // as the first forward pass left them
  for (int step = 2; step <= 7; ++step) train_step(net, optimizer, step);
  EXPECT_FALSE(same_bits(net.parameters(), weights));
  train_step(net, optimizer, 8, kNaN);
  EXPECT_TRUE(same_bits(net.parameters(), weights));
  EXPECT_TRUE(same_bits(net.buffers(), statistics));
  EXPECT_NE(optimizer.remark().find("to the start"), std::string::npos) << optimizer.remark();
  for (const auto& group : optimizer.snapshot().tensors) EXPECT_TRUE(group.first.starts_with("own.")) << group.first;

  // And it goes on as a training does that begins there.
  NormNet fresh(2);
  Auto other(fresh, fresh.head, {.total_steps = 200});
  train_step(net, optimizer, 9);
  train_step(fresh, other, 9);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double ratio = (1 - 9.0 / 200) / (1 - 1.0 / 200);  // of the rates
    EXPECT_TRUE(
        at::allclose(net.parameters()[i] - weights[i], (fresh.parameters()[i] - weights[i]) * ratio, 1e-3, 1e-7));
  }
}

TEST(AutoOptimizer, ALateRollbackPutsBackTheOlderSnapshot) {
  NormNet net(3);
  Auto optimizer(net, net.head, {.total_steps = 200});
  std::vector<at::Tensor> weights, statistics;
  for (int step = 1; step <= 75; ++step) {
    train_step(net, optimizer, step);
    if (step == 60) {
      weights = copies(net.parameters());
      statistics = copies(net.buffers());
    }
  }
  train_step(net, optimizer, 76, kNaN);
  EXPECT_TRUE(same_bits(net.parameters(), weights));
  EXPECT_TRUE(same_bits(net.buffers(), statistics));
  EXPECT_NE(optimizer.remark().find("to step 60"), std::string::npos) << optimizer.remark();
}

TEST(AutoOptimizer, ContinuesWithTheSameBitsFromASnapshotAndFromAnArchive) {
  for (const bool archived : {false, true}) {
    NormNet whole(4), part(5);
    Auto optimizer(whole, whole.head, {.total_steps = 120}), other(part, part.head, {.total_steps = 120});
    for (int step = 1; step <= 47; ++step)
      train_step(whole, optimizer, step, step == 13 ? kNaN : std::optional<double>());
    if (archived) {
      std::stringstream file;
      torch::save(optimizer, file);
      torch::load(other, file);
    } else {
      other.restore(optimizer.snapshot());
    }
    {
      const torch::NoGradGuard no_grad;
      for (std::size_t i = 0; i < part.parameters().size(); ++i) part.parameters()[i].copy_(whole.parameters()[i]);
      for (std::size_t i = 0; i < part.buffers().size(); ++i) part.buffers()[i].copy_(whole.buffers()[i]);
    }
    for (int step = 48; step <= 120; ++step) {
      const std::optional<double> said = step == 52 || step == 90 ? kNaN : std::optional<double>();
      train_step(whole, optimizer, step, said);
      train_step(part, other, step, said);
      ASSERT_TRUE(same_bits(part.parameters(), whole.parameters())) << step;
      ASSERT_TRUE(same_bits(part.buffers(), whole.buffers())) << step;
    }
    EXPECT_EQ(other.snapshot().json, optimizer.snapshot().json);
    EXPECT_EQ(other.rule().numbers().rollbacks, 3u);
  }
}

TEST(AutoOptimizer, RefusesTheStateOfAnotherNetworkAndKeepsItsOwn) {
  NormNet net(6), wide(6, 5, 9);
  Auto optimizer(net, net.head, {.total_steps = 120}), other(wide, wide.head, {.total_steps = 120});
  for (int step = 1; step <= 12; ++step) {
    train_step(net, optimizer, step);
    train_step(wide, other, step);
  }
  const std::string before = optimizer.snapshot().json;
  words_of_error([&] { optimizer.restore(other.snapshot()); }, Fault::data);
  OptimizerSnapshot cut = optimizer.snapshot();
  std::erase_if(cut.tensors, [](const auto& one) { return one.first == "own.1.weights.0"; });
  words_of_error([&] { optimizer.restore(cut); }, Fault::data);
  EXPECT_EQ(optimizer.snapshot().json, before);
}

TEST(AutoOptimizer, GroupsHaveTheirScaleAndFrozenParametersStay) {
  NormNet net(7), frozen(7);
  for (at::Tensor& parameter : frozen.first->parameters()) parameter.set_requires_grad(false);
  const std::vector<at::Tensor> start = copies(net.parameters()), still = copies(frozen.first->parameters());
  const auto group = [](const std::vector<at::Tensor>& parameters, double scale) {
    return torch::optim::OptimizerParamGroup(parameters,
                                             std::make_unique<OptimizerOptions>(OptimizerOptions().scale(scale)));
  };
  std::vector<at::Tensor> rest = net.norm->parameters();
  for (const at::Tensor& parameter : net.head->parameters()) rest.push_back(parameter);
  Auto optimizer(Optimizer::Groups{group(net.first->parameters(), 0.25), group(rest, 1)}, net.head,
                 {.total_steps = 100, .buffers = net.buffers()});
  NormNet plain(7);
  Auto usual(plain, plain.head, {.total_steps = 100});
  train_step(net, optimizer, 1);
  train_step(plain, usual, 1);
  EXPECT_TRUE(at::allclose((net.parameters()[0] - start[0]) * 4, plain.parameters()[0] - start[0], 1e-3, 1e-6));
  EXPECT_TRUE(same_bits(net.head->parameters(), plain.head->parameters()));

  Auto without(frozen, frozen.head, {.total_steps = 100});
  EXPECT_EQ(without.rule().options().weight_tensors, 1u);  // the head's
  for (int step = 1; step <= 5; ++step) train_step(frozen, without, step);
  train_step(frozen, without, 6, kNaN);
  EXPECT_TRUE(same_bits(frozen.first->parameters(), still));
}

TEST(AutoOptimizer, TakesAClosure) {
  NormNet net(8), other(8);
  Auto optimizer(net, net.head, {.total_steps = 100}), usual(other, other.head, {.total_steps = 100});
  const auto [x, y] = examples(1);
  const at::Tensor loss = optimizer.step([&, x = x, y = y] {
    optimizer.zero_grad();
    const at::Tensor value = torch::nn::functional::cross_entropy(net.forward(x), y);
    value.backward();
    return value;
  });
  EXPECT_FLOAT_EQ(loss.item<float>(), static_cast<float>(train_step(other, usual, 1)));
  EXPECT_TRUE(same_bits(net.parameters(), other.parameters()));
}

TEST(AutoOptimizer, ACallThatIsForgottenIsAnError) {
  NormNet net(9);
  const auto [x, y] = examples(1);
  Auto optimizer(net, net.head, {.total_steps = 3});
  EXPECT_NE(words_of_error([&] { optimizer.step(1.0); }, Fault::usage).find("no backward pass"), std::string::npos);
  torch::nn::functional::cross_entropy(net.forward(x), y);
  EXPECT_NE(words_of_error([&] { optimizer.step(1.0); }, Fault::usage).find("no backward pass"), std::string::npos);
  torch::nn::functional::cross_entropy(net.forward(x), y).backward();
  EXPECT_NE(words_of_error([&] { optimizer.step(); }, Fault::usage).find("step(loss)"), std::string::npos);
  for (int step = 1; step <= 2; ++step) train_step(net, optimizer, step);
  EXPECT_NE(words_of_error([&] { optimizer.step(1.0); }, Fault::usage).find("no forward pass"), std::string::npos);
  EXPECT_NE(words_of_error([&] { train_step(net, optimizer, 3, -1.0); }, Fault::usage).find("negative"),
            std::string::npos);
  train_step(net, optimizer, 3);
  EXPECT_NE(words_of_error([&] { train_step(net, optimizer, 4); }, Fault::usage).find("all 3 steps"),
            std::string::npos);
}

TEST(AutoOptimizer, TheAverageIsEvaluatedWhereTheEndIsNotKnownOrWhenAskedFor) {
  NormNet net(10);
  Auto optimizer(net, net.head);
  std::vector<at::Tensor> past;
  for (int step = 1; step <= 12; ++step) {
    train_step(net, optimizer, step);
    past.push_back(net.first->weight.detach().clone());
  }
  // a_t = (1 - 9/(t+8)) a_(t-1) + 9/(t+8) w_t, written out.
  at::Tensor expected = torch::zeros_like(past[0]);
  for (int t = 1; t <= 12; ++t) {
    double weight = 9.0 / (t + 8);
    for (int later = t + 1; later <= 12; ++later) weight *= 1 - 9.0 / (later + 8);
    expected += past[static_cast<std::size_t>(t - 1)] * weight;
  }
  {
    const EvaluationWeights now(optimizer);
    EXPECT_TRUE(now.differ());
    EXPECT_TRUE(at::allclose(net.first->weight, expected, 1e-5, 1e-6));
  }
  EXPECT_TRUE(at::equal(net.first->weight, past.back()));
  NormNet other(10);
  Auto known(other, other.head, {.total_steps = 100});
  train_step(other, known, 1);
  train_step(other, known, 2);
  EXPECT_FALSE(EvaluationWeights(known).differ());
  known.use_average(true);
  EXPECT_TRUE(EvaluationWeights(known).differ());
}

// ---- Starts that others fail at.

struct Hostile {
  const char* name;
  double weights = 1, features = 1;
  std::int64_t batch = 32;
  int layers = 2;
  bool tanh = false, random_labels = false, too_large = false;
};

class HostileStart : public testing::TestWithParam<Hostile> {};

TEST_P(HostileStart, EndsWithAFiniteLossAndFiniteWeights) {
  const Hostile& start = GetParam();
  constexpr std::int64_t kInputs = 10, kWidth = 24;
  torch::manual_seed(11);
  torch::nn::Sequential body;
  for (int layer = 0; layer < start.layers; ++layer) {
    body->push_back(torch::nn::Linear(layer == 0 ? kInputs : kWidth, kWidth));
    start.tanh ? body->push_back(torch::nn::Tanh()) : body->push_back(torch::nn::ReLU());
  }
  Head head(kWidth, 3);
  body->push_back(head);
  {
    const torch::NoGradGuard no_grad;
    for (at::Tensor& parameter : body->parameters()) parameter.mul_(start.weights);
  }
  constexpr int kSteps = 150;
  Auto optimizer(*body, head, {.total_steps = kSteps});
  const auto loss_at = [&](int step) {
    auto [x, y] = examples(step, start.batch, kInputs);
    if (start.random_labels) y = torch::randint(3, {start.batch}, torch::kLong);
    return torch::nn::functional::cross_entropy(body->forward(x * start.features), y);
  };
  const double first = loss_at(0).item<double>();
  for (int step = 1; step <= kSteps; ++step) {
    optimizer.zero_grad();
    const at::Tensor loss = loss_at(step);
    loss.backward();
    optimizer.step(loss.item<double>());
  }
  const double last = loss_at(0).item<double>();
  EXPECT_TRUE(std::isfinite(last));
  for (const at::Tensor& parameter : body->parameters()) EXPECT_TRUE(at::isfinite(parameter).all().item<bool>());
  EXPECT_EQ(optimizer.rule().numbers().head_excesses, 0u);
  if (start.random_labels) return;  // where nothing is to be learnt
  // From far too large scores 150 steps do not suffice (docs/auto.md): there the loss has to fall a long way, and the
  // rule says why it is not enough.
  const std::string why = optimizer.rule().shortfall(last, std::log(3));
  EXPECT_EQ(why.empty(), last < std::log(3));
  if (start.too_large) {
    EXPECT_LT(last, 0.1 * first);
    EXPECT_TRUE(why.empty() || why.find("the outputs of the start are far too large") != std::string::npos) << why;
  } else {
    EXPECT_LT(last, std::min(first, std::log(3))) << "not better than the best constant";
  }
}

INSTANTIATE_TEST_SUITE_P(Starts, HostileStart,
                         testing::Values(Hostile{.name = "weights_small", .weights = 0.01},
                                         Hostile{.name = "weights_tenth", .weights = 0.1},
                                         Hostile{.name = "weights_ten", .weights = 10, .too_large = true},
                                         Hostile{.name = "weights_large", .weights = 100, .too_large = true},
                                         Hostile{.name = "features_small", .features = 1e-3},
                                         Hostile{.name = "features_large", .features = 1e3, .too_large = true},
                                         Hostile{.name = "batch_8", .batch = 8},
                                         Hostile{.name = "batch_2048", .batch = 2048},
                                         Hostile{.name = "six_layers_tanh", .weights = 3, .layers = 6, .tanh = true},
                                         Hostile{.name = "labels_at_random", .random_labels = true}),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace lipschitzlr::nn

#include "lipschitzlr/nn/baseline_optimizers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/nn/evaluation_weights.hpp"

namespace lipschitzlr::nn {
namespace {

using Numbers = std::vector<double>;

std::vector<std::string> baselines() {
  std::vector<std::string> names;
  for (const OptimizerInfo& info : optimizers()) {
    if (!info.computed_rate) names.push_back(info.name);
  }
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& given) {
  std::string name = given.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

torch::Tensor vector_of(const Numbers& values) { return torch::tensor(values, torch::kDouble); }

// Two tensors, as the block-wise maximum and the norm over everything want more than one.
const std::vector<Numbers> kStart = {{1, -2, 0.5, 3, -0.25}, {0.1, -4}};

// Gradients that depend on nothing but the step; one element has none at first.
std::vector<Numbers> gradients(int step) {
  Random random(static_cast<std::uint64_t>(500 + step));
  std::vector<Numbers> all = kStart;
  for (Numbers& values : all) {
    for (double& value : values) value = random.normal() * (1 + step % 3);
  }
  if (step < 4) all[0][3] = 0;
  return all;
}

double loss_of_step(int step) { return 0.5 + 0.3 * (step % 4); }

// What the papers' algorithms do, written out number by number: the slow reference. What is asked for by name here is
// not looked up in the registry: these are the papers' numbers.
struct Reference {
  std::string name;
  double rate;
  double weight_decay = 0;
  bool block_max = true;  // AdaShift
  int delay = 3;          // AdaShift

  std::vector<Numbers> w = kStart, first = zeros(), second = zeros(), largest = zeros();
  std::vector<std::vector<Numbers>> past = {};
  std::vector<Numbers> counts = zeros();
  std::vector<Numbers> evaluated = kStart;  // the weights to evaluate
  std::vector<Numbers> z = kStart;          // Schedule-Free
  double b = 1, d = 1e-6, r = 0;
  double loss_average = 0, product_average = 0;  // MoMo
  int t = 0;

  static std::vector<Numbers> zeros() { return {Numbers(kStart[0].size()), Numbers(kStart[1].size())}; }

  template <class Function>
  void each(Function&& function) {
    for (std::size_t k = 0; k < w.size(); ++k) {
      for (std::size_t i = 0; i < w[k].size(); ++i) function(k, i);
    }
  }

  void step(std::vector<Numbers> g, double loss) {
    ++t;
    each([&](auto k, auto i) { g[k][i] += weight_decay * w[k][i]; });
    if (name == "amsgrad") amsgrad(g);
    if (name == "adadelta") adadelta(g);
    if (name == "adashift") adashift(g);
    if (name == "wngrad" || name == "wn-adam") wngrad(g);
    if (name == "adabound" || name == "amsbound") adabound(g);
    if (name == "nadamw") nadamw(g);
    if (name == "prodigy") prodigy(g);
    if (name == "dadapt-adam") dadapt_adam(g);
    if (name == "momo-adam") momo_adam(g, loss);
    if (name == "dog") return dog(g);
    if (name == "schedule-free") return schedule_free(g);
    evaluated = w;
  }

  void adam_averages(const std::vector<Numbers>& g) {
    each([&](auto k, auto i) {
      first[k][i] = 0.9 * first[k][i] + 0.1 * g[k][i];
      second[k][i] = 0.999 * second[k][i] + 0.001 * g[k][i] * g[k][i];
      largest[k][i] = std::max(largest[k][i], second[k][i]);
    });
  }

  void amsgrad(const std::vector<Numbers>& g) {
    adam_averages(g);
    each([&](auto k, auto i) { w[k][i] -= rate * first[k][i] / (std::sqrt(largest[k][i]) + 1e-8); });
  }

  void adadelta(const std::vector<Numbers>& g) {
    each([&](auto k, auto i) {
      first[k][i] = 0.95 * first[k][i] + 0.05 * g[k][i] * g[k][i];
      const double delta = -std::sqrt(second[k][i] + 1e-6) / std::sqrt(first[k][i] + 1e-6) * g[k][i];
      second[k][i] = 0.95 * second[k][i] + 0.05 * delta * delta;
      w[k][i] += rate * delta;
    });
  }

  void adashift(const std::vector<Numbers>& g) {
    past.push_back(g);
    if (t <= delay) return;
    const std::vector<Numbers>& shifted = past[static_cast<std::size_t>(t - delay - 1)];
    each([&](auto k, auto i) {
      double square = shifted[k][i] * shifted[k][i];
      if (block_max) {
        for (const double other : shifted[k]) square = std::max(square, other * other);
      }
      second[k][i] = 0.999 * second[k][i] + 0.001 * square;
      if (second[k][i] == 0) return;
      counts[k][i] += 1;
      double sum = 0, weights = 0;
      for (int j = 0; j < delay; ++j) {
        sum += std::pow(0.9, j) * past[static_cast<std::size_t>(t - 1 - j)][k][i];
        weights += std::pow(0.9, j);
      }
      const double v = second[k][i] / (1 - std::pow(0.999, counts[k][i]));
      w[k][i] -= rate * sum / weights / (std::sqrt(v) + 1e-10);
    });
  }

  void wngrad(const std::vector<Numbers>& g) {
    double square = 0;
    each([&](auto k, auto i) { square += g[k][i] * g[k][i]; });
    b += rate * rate * square / b;
    const bool averaged = name == "wn-adam";
    each([&](auto k, auto i) {
      first[k][i] = averaged ? 0.9 * first[k][i] + 0.1 * g[k][i] : g[k][i];
      w[k][i] -= rate / b * first[k][i] / (averaged ? 1 - std::pow(0.9, t) : 1);
    });
  }

  void adabound(const std::vector<Numbers>& g) {
    adam_averages(g);
    const double low = 0.1 * (1 - 1 / (0.001 * t + 1)), high = 0.1 * (1 + 1 / (0.001 * t));
    each([&](auto k, auto i) {
      const double v = name == "amsbound" ? largest[k][i] : second[k][i];
      const double size = rate * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) / (std::sqrt(v) + 1e-8);
      w[k][i] -= std::clamp(size, low, high) * first[k][i];
    });
  }

  void nadamw(const std::vector<Numbers>& g) {
    const double beta1 = 0.93266073836, beta2 = 0.9955159689799007;
    each([&](auto k, auto i) {
      first[k][i] = beta1 * first[k][i] + (1 - beta1) * g[k][i];
      second[k][i] = beta2 * second[k][i] + (1 - beta2) * g[k][i] * g[k][i];
      const double m = (beta1 * first[k][i] + (1 - beta1) * g[k][i]) / (1 - std::pow(beta1, t));
      const double v = second[k][i] / (1 - std::pow(beta2, t));
      w[k][i] -= rate * (m / (std::sqrt(v) + 1e-8) + 0.08121616522670176 * w[k][i]);
    });
  }

  void prodigy(const std::vector<Numbers>& g) {
    const double beta3 = std::sqrt(0.999), before = d;
    double gain = 0, norm = 0;
    each([&](auto k, auto i) {
      first[k][i] = 0.9 * first[k][i] + 0.1 * d * g[k][i];
      second[k][i] = 0.999 * second[k][i] + 0.001 * d * d * g[k][i] * g[k][i];
      gain += rate * d * d * g[k][i] * (kStart[k][i] - w[k][i]);
      counts[k][i] = beta3 * counts[k][i] + (1 - beta3) * rate * d * d * g[k][i];
      norm += std::abs(counts[k][i]);
    });
    r = beta3 * r + (1 - beta3) * gain;
    d = std::max(d, r / norm);
    each([&](auto k, auto i) { w[k][i] -= rate * before * first[k][i] / (std::sqrt(second[k][i]) + before * 1e-8); });
  }

  void dadapt_adam(const std::vector<Numbers>& g) {
    const double beta3 = std::sqrt(0.999);
    double gain = 0, norm = 0;
    each([&](auto k, auto i) {
      first[k][i] = 0.9 * first[k][i] + 0.1 * d * rate * g[k][i];
      second[k][i] = 0.999 * second[k][i] + 0.001 * g[k][i] * g[k][i];
      const double divisor = std::sqrt(second[k][i]) + 1e-8;
      w[k][i] -= first[k][i] / divisor;
      gain += d * rate * g[k][i] * counts[k][i] / divisor;
      counts[k][i] = beta3 * counts[k][i] + (1 - beta3) * d * rate * g[k][i];
      norm += std::abs(counts[k][i]);
    });
    r = beta3 * r + (1 - beta3) * gain;
    d = std::max(d, r / ((1 - beta3) * norm));
  }

  void dog(const std::vector<Numbers>& g) {
    double start = 0, moved = 0, square = 0;
    each([&](auto k, auto i) {
      start += kStart[k][i] * kStart[k][i];
      moved += (w[k][i] - kStart[k][i]) * (w[k][i] - kStart[k][i]);
      square += g[k][i] * g[k][i];
    });
    if (t == 1) b = 1e-8;  // the sum of the squares of all gradients
    b += square;
    r = std::max({r, std::sqrt(moved), 1e-6 * (1 + std::sqrt(start))});
    each([&](auto k, auto i) {
      w[k][i] -= rate * r / std::sqrt(b) * g[k][i];
      const double share = 9.0 / (t + 8);
      evaluated[k][i] = (1 - share) * evaluated[k][i] + share * w[k][i];
    });
  }

  // With the same p in every step the average is that of all z; here p grows with lr_t, so its sum is kept in r.
  void schedule_free(const std::vector<Numbers>& g) {
    const double rate_now = rate * std::sqrt(1 - std::pow(0.999, t));
    r += rate_now * rate_now;
    const double share = rate_now * rate_now / r;
    each([&](auto k, auto i) {
      second[k][i] = 0.999 * second[k][i] + 0.001 * g[k][i] * g[k][i];
      z[k][i] -= rate_now * g[k][i] / (std::sqrt(second[k][i]) + 1e-8);
      evaluated[k][i] = (1 - share) * evaluated[k][i] + share * z[k][i];
      w[k][i] = 0.1 * z[k][i] + 0.9 * evaluated[k][i];
    });
  }

  void momo_adam(const std::vector<Numbers>& g, double loss) {
    adam_averages(g);
    const double correction = 1 - std::pow(0.9, t);
    const auto divisor = [&](auto k, auto i) { return std::sqrt(second[k][i] / (1 - std::pow(0.999, t))) + 1e-8; };
    double product = 0, along = 0, norm = 0;
    each([&](auto k, auto i) {
      product += g[k][i] * w[k][i];
      along += first[k][i] * w[k][i];
      norm += first[k][i] * first[k][i] / divisor(k, i);
    });
    loss_average = 0.9 * loss_average + 0.1 * loss;
    product_average = 0.9 * product_average + 0.1 * product;
    const double most = std::max(0.0, loss_average + along - product_average) / norm;
    each([&](auto k, auto i) { w[k][i] -= std::min(rate / correction, most) * first[k][i] / divisor(k, i); });
  }
};

// The papers' own rates.
double rate_of(const std::string& name) {
  const std::map<std::string, double> rates = {
      {"amsgrad", 0.001}, {"adadelta", 1},     {"adashift", 0.01},  {"wngrad", 1},
      {"wn-adam", 1},     {"adabound", 0.001}, {"amsbound", 0.001}, {"nadamw", 0.0017486387539278373},
      {"prodigy", 1},     {"dadapt-adam", 1},  {"dog", 1},          {"schedule-free", 0.0025},
      {"momo-adam", 0.01}};
  const auto found = rates.find(name);
  return found == rates.end() ? default_rate(name) : found->second;
}

struct Pair {
  std::vector<torch::Tensor> w;
  std::unique_ptr<Optimizer> optimizer;

  Pair(const std::string& name, const BaselineOptions& options) {
    for (const Numbers& values : kStart) w.push_back(vector_of(values).requires_grad_());
    optimizer = make_baseline(name, w, options);
  }
  void step(int number) {
    const std::vector<Numbers> all = gradients(number);
    for (std::size_t k = 0; k < w.size(); ++k) w[k].mutable_grad() = vector_of(all[k]);
    optimizer->step(loss_of_step(number));
  }
};

void expect_close(const std::vector<torch::Tensor>& w, const std::vector<Numbers>& expected, const std::string& what) {
  for (std::size_t k = 0; k < w.size(); ++k) {
    ASSERT_TRUE(torch::allclose(w[k], vector_of(expected[k]), 1e-10, 1e-12)) << what << "\n"
                                                                             << w[k] << vector_of(expected[k]);
  }
}

OptimizerSettings short_delay(const std::string& name) {
  return name == "adashift" ? OptimizerSettings{{"delay", 3}} : OptimizerSettings{};
}

// Weight decay moves what has no gradient.
OptimizerSettings without_decay(const std::string& name) {
  return name == "nadamw" ? OptimizerSettings{{"weight_decay", 0}} : short_delay(name);
}

class Baseline : public testing::TestWithParam<std::string> {};

TEST_P(Baseline, FollowsTheSlowReferenceForTwelveSteps) {
  for (const double decay : {0.0, 0.01}) {
    Reference reference{.name = GetParam(), .rate = rate_of(GetParam()), .weight_decay = decay};
    Pair pair(GetParam(), {.weight_decay = decay, .settings = short_delay(GetParam())});
    for (int step = 0; step < 12; ++step) {
      pair.step(step);
      reference.step(gradients(step), loss_of_step(step));
      expect_close(pair.w, reference.w, fmt::format("step {}", step));
      const EvaluationWeights now(*pair.optimizer);
      expect_close(pair.w, reference.evaluated, fmt::format("to evaluate after step {}", step));
    }
    EXPECT_FALSE(torch::equal(pair.w[0], vector_of(kStart[0])));
  }
}

TEST_P(Baseline, ContinuesFromAnArchiveBitForBit) {
  const BaselineOptions options{.settings = short_delay(GetParam())};
  Pair whole(GetParam(), options), begun(GetParam(), options), resumed(GetParam(), options);
  for (int step = 0; step < 10; ++step) whole.step(step);
  for (int step = 0; step < 5; ++step) begun.step(step);
  std::stringstream archive;
  torch::save(*begun.optimizer, archive);
  torch::load(*resumed.optimizer, archive);
  for (std::size_t k = 0; k < begun.w.size(); ++k) {
    const torch::NoGradGuard no_grad;
    resumed.w[k].copy_(begun.w[k]);
  }
  for (int step = 5; step < 10; ++step) resumed.step(step);
  for (std::size_t k = 0; k < whole.w.size(); ++k) EXPECT_TRUE(torch::equal(whole.w[k], resumed.w[k]));
}

TEST_P(Baseline, RefusesTheArchiveOfAnother) {
  Pair pair(GetParam(), {});
  torch::optim::Adam adam(pair.w);
  const std::string neighbour = GetParam() == "amsgrad" ? "amsbound" : "amsgrad";
  Pair other(neighbour, {});
  for (const torch::optim::Optimizer* saved :
       {static_cast<torch::optim::Optimizer*>(&adam), static_cast<torch::optim::Optimizer*>(other.optimizer.get())}) {
    std::stringstream archive;
    torch::save(*saved, archive);
    EXPECT_THROW(torch::load(*pair.optimizer, archive), Error);
  }
}

TEST_P(Baseline, GroupsHaveTheirOwnOptions) {
  torch::Tensor a = vector_of(kStart[0]).requires_grad_(), b = vector_of(kStart[0]).requires_grad_();
  const OptimizerOptions options = OptimizerOptions().settings(short_delay(GetParam()));
  Optimizer::Groups groups;
  groups.emplace_back(std::vector<torch::Tensor>{a}, std::make_unique<OptimizerOptions>(options));
  groups.emplace_back(std::vector<torch::Tensor>{b},
                      std::make_unique<OptimizerOptions>(OptimizerOptions(options).scale(0)));
  const auto optimizer = make_baseline(GetParam(), groups);
  for (int step = 0; step < 6; ++step) {
    a.mutable_grad() = vector_of(gradients(step)[0]);
    b.mutable_grad() = vector_of(gradients(step)[0]);
    optimizer->step(loss_of_step(step));
  }
  EXPECT_FALSE(torch::equal(a, vector_of(kStart[0])));
  EXPECT_TRUE(torch::equal(b, vector_of(kStart[0]))) << "a group with the rate 0 moves";
}

TEST_P(Baseline, LeavesFrozenEmptyAndUnusedParametersAloneAndRefusesSparseGradients) {
  torch::Tensor moved = vector_of(kStart[0]).requires_grad_(), frozen = vector_of(kStart[0]);
  torch::Tensor unused = vector_of(kStart[0]).requires_grad_();
  torch::Tensor empty = torch::zeros({0}, torch::kDouble).requires_grad_();
  const BaselineOptions options{.weight_decay = 0.1, .settings = short_delay(GetParam())};
  const auto optimizer = make_baseline(GetParam(), {moved, frozen, unused, empty}, options);
  for (int step = 0; step < 6; ++step) {
    moved.mutable_grad() = vector_of(gradients(step)[0]);
    empty.mutable_grad() = torch::zeros({0}, torch::kDouble);
    optimizer->step(loss_of_step(step));
  }
  EXPECT_FALSE(torch::equal(moved, vector_of(kStart[0])));
  EXPECT_TRUE(torch::equal(frozen, vector_of(kStart[0])));
  EXPECT_TRUE(torch::equal(unused, vector_of(kStart[0])));
  torch::Tensor matrix = torch::zeros({3, 2}, torch::kDouble).requires_grad_();
  matrix.mutable_grad() = torch::ones({3, 2}, torch::kDouble).to_sparse();
  EXPECT_THROW(make_baseline(GetParam(), {matrix}, options)->step(), Error);
}

TEST_P(Baseline, StandsStillForGradientsThatAreAllZero) {
  torch::Tensor w = vector_of(kStart[0]).requires_grad_();
  const auto optimizer = make_baseline(GetParam(), {w}, {.settings = without_decay(GetParam())});
  for (int step = 0; step < 6; ++step) {
    w.mutable_grad() = torch::zeros_like(w);
    optimizer->step(1);
    ASSERT_TRUE(torch::equal(w, vector_of(kStart[0]))) << "step " << step;
  }
}

// ---- problems to be solved

// Rates that converge on the quadratic and in the valley, where those that AdaBound ends with must converge too.
struct Converging {
  double quadratic, valley;
  OptimizerSettings settings = {};
};

const Converging& converging(const std::string& name) {
  static const std::map<std::string, Converging> all = {{"amsgrad", {0.05, 0.02}},
                                                        {"adadelta", {1, 1}},
                                                        {"adashift", {0.05, 0.01}},
                                                        {"wngrad", {0.01, 0.005}},
                                                        {"wn-adam", {0.01, 0.005}},
                                                        {"adabound", {0.01, 0.01, {{"final_rate", 0.002}}}},
                                                        {"amsbound", {0.01, 0.01, {{"final_rate", 0.002}}}},
                                                        {"nadamw", {0.05, 0.02, {{"weight_decay", 0}}}},
                                                        {"prodigy", {1, 1}},
                                                        {"dadapt-adam", {1, 1}},
                                                        {"dog", {1, 1, {{"relative_start", 0.001}}}},
                                                        {"schedule-free", {0.05, 0.02}},
                                                        {"momo-adam", {0.05, 0.02}}};
  return all.at(name);
}

using Loss = std::function<torch::Tensor(const torch::Tensor&)>;

double reached(const std::string& name, double rate, const torch::Tensor& start, int steps, const Loss& loss) {
  torch::Tensor w = start.clone().requires_grad_();
  const auto optimizer = make_baseline(name, {w}, {.rate = rate, .settings = converging(name).settings});
  for (int step = 0; step < steps; ++step) {
    optimizer->zero_grad();
    optimizer->step([&] {
      torch::Tensor value = loss(w);
      value.backward();
      return value;
    });
  }
  const torch::NoGradGuard no_grad;
  const EvaluationWeights now(*optimizer);
  return loss(w).item<double>();
}

// 1 and 100 are the curvatures; the loss at the start is 50.5.
TEST_P(Baseline, BringsAQuadraticToAThousandth) {
  const torch::Tensor curvatures = vector_of({1, 100});
  const Loss quadratic = [&](const torch::Tensor& w) { return (curvatures * w * w).sum() / 2; };
  EXPECT_LT(reached(GetParam(), converging(GetParam()).quadratic, vector_of({1, 1}), 1000, quadratic), 50.5e-3);
}

// From (-1.2, 1), where Rosenbrock's function is 24.2; at (-1, 1), the floor of the valley beside it, it is 4.
TEST_P(Baseline, ComesDownIntoRosenbrocksValleyAndAlongIt) {
  const Loss rosenbrock = [](const torch::Tensor& w) {
    const torch::Tensor x = w[0], y = w[1];
    return (1 - x).square() + 100 * (y - x * x).square();
  };
  EXPECT_LT(reached(GetParam(), converging(GetParam()).valley, vector_of({-1.2, 1}), 2000, rosenbrock), 1);
}

// 200 points of two classes a tenth of which are mislabelled, 16 in each step: from log 2 = 0.69 at w = 0 to below
// 0.45.
TEST_P(Baseline, LearnsANoisyLogisticProblem) {
  torch::Tensor x = torch::empty({200, 3}, torch::kDouble), y = torch::empty({200}, torch::kDouble);
  Random random(3);
  for (std::int64_t i = 0; i < 200; ++i) {
    const double label = i % 2 == 0 ? 1 : 0;
    for (std::int64_t j = 0; j < 3; ++j) x[i][j] = random.normal() + (2 * label - 1) * (j == 0 ? 2 : 0.5);
    y[i] = i % 10 == 9 ? 1 - label : label;
  }
  const auto loss_of = [](const torch::Tensor& w, const torch::Tensor& inputs, const torch::Tensor& labels) {
    return torch::binary_cross_entropy_with_logits(inputs.matmul(w), labels);
  };
  torch::Tensor w = torch::zeros({3}, torch::kDouble).requires_grad_();
  const double usual = rate_of(GetParam()), rate = usual < 0.1 ? 10 * usual : usual;
  const auto optimizer = make_baseline(GetParam(), {w}, {.rate = rate});
  for (std::int64_t step = 0; step < 600; ++step) {
    const std::int64_t begin = step * 16 % 192, end = begin + 16;
    optimizer->zero_grad();
    const torch::Tensor loss = loss_of(w, x.slice(0, begin, end), y.slice(0, begin, end));
    loss.backward();
    optimizer->step(loss.item<double>());
  }
  const EvaluationWeights now(*optimizer);
  EXPECT_LT(loss_of(w, x, y).item<double>(), 0.45);
}

INSTANTIATE_TEST_SUITE_P(Registry, Baseline, testing::ValuesIn(baselines()), test_name);

// ---- one by one

TEST(AmsGrad, WithCorrectedAveragesIsLibtorchsOwn) {
  torch::Tensor ours = vector_of(kStart[0]).requires_grad_(), theirs = vector_of(kStart[0]).requires_grad_();
  const auto optimizer = make_baseline("amsgrad", {ours}, {.settings = {{"bias_correction", 1}}});
  torch::optim::Adam adam({theirs}, torch::optim::AdamOptions(0.001).amsgrad(true));
  for (int step = 0; step < 10; ++step) {
    ours.mutable_grad() = theirs.mutable_grad() = vector_of(gradients(step)[0]);
    optimizer->step();
    adam.step();
  }
  EXPECT_TRUE(torch::allclose(ours, theirs, 1e-10, 1e-12));
}

TEST(AdaShift, WithoutBlocksEveryElementHasItsOwnSquares) {
  Reference reference{.name = "adashift", .rate = 0.01, .block_max = false};
  Pair pair("adashift", {.settings = {{"delay", 3}, {"block_max", 0}}});
  for (int step = 0; step < 12; ++step) {
    pair.step(step);
    reference.step(gradients(step), loss_of_step(step));
    expect_close(pair.w, reference.w, fmt::format("step {}", step));
  }
}

TEST(AdaShift, MovesNothingUntilItHasItsDelayOfGradients) {
  Pair pair("adashift", {});
  for (int step = 0; step < 10; ++step) pair.step(step);
  EXPECT_TRUE(torch::equal(pair.w[0], vector_of(kStart[0])));
  pair.step(10);
  EXPECT_FALSE(torch::equal(pair.w[0], vector_of(kStart[0])));
}

TEST(AdaBound, ItsBoundsFollowTheScheduleOfTheRate) {
  // So far from the start that the step size is the lower bound: final_rate, which falls with the rate.
  torch::Tensor w = vector_of({0}).requires_grad_();
  const auto optimizer = make_baseline(
      "adabound", {w},
      {.schedule = rate::Schedule::step, .schedule_steps = 2, .settings = {{"beta1", 0}, {"gamma", 1e9}}});
  const auto moved = [&] {
    const double before = w.item<double>();
    w.mutable_grad() = vector_of({1});
    optimizer->step();
    return before - w.item<double>();
  };
  EXPECT_NEAR(moved(), 0.1, 1e-8);
  EXPECT_NEAR(moved(), 0.01, 1e-8);
}

TEST(MomoAdam, AsksForTheLoss) {
  torch::Tensor w = vector_of({1}).requires_grad_();
  const auto optimizer = make_baseline("momo-adam", {w});
  w.mutable_grad() = vector_of({1});
  EXPECT_THROW(optimizer->step(), Error);
}

TEST(MomoAdam, StopsAtItsLowerBound) {
  // f(w) = w^2/2 + 3 from 1; the model of the loss allows no step once it is at the bound, here above the minimum.
  const auto distance = [](double bound) {
    torch::Tensor w = vector_of({1}).requires_grad_();
    const auto optimizer = make_baseline("momo-adam", {w}, {.rate = 0.1, .settings = {{"lower_bound", bound}}});
    for (int step = 0; step < 300; ++step) {
      w.mutable_grad() = w.detach().clone();
      optimizer->step(w.item<double>() * w.item<double>() / 2 + 3);
    }
    return std::abs(w.item<double>());
  };
  EXPECT_LT(distance(3), 0.05);
  EXPECT_GT(distance(3.2), 0.3);
}

TEST(Prodigy, AndDAdaptationFindTheScaleOfTheProblem) {
  // The same problem with weights a thousand times as large: nothing is set, and it is solved as well.
  for (const std::string name : {"prodigy", "dadapt-adam", "dog"}) {
    for (const double scale : {1.0, 1000.0}) {
      torch::Tensor w = vector_of({scale, -scale}).requires_grad_();
      const auto optimizer = make_baseline(name, {w});
      for (int step = 0; step < 1000; ++step) {
        w.mutable_grad() = w.detach() / scale;
        optimizer->step(1);
      }
      const EvaluationWeights now(*optimizer);
      EXPECT_LT(w.abs().max().item<double>(), 0.1 * scale) << name << ", scale " << scale;
    }
  }
}

TEST(EvaluationWeights, GiveTheTrainedOnesBackBitForBit) {
  for (const std::string name : {"schedule-free", "dog", "adam"}) {
    Pair pair(name, {});
    { EXPECT_FALSE(EvaluationWeights(*pair.optimizer).differ()) << name << " before the first step"; }
    for (int step = 0; step < 5; ++step) pair.step(step);
    const torch::Tensor trained = pair.w[0].detach().clone();
    {
      const EvaluationWeights now(*pair.optimizer);
      EXPECT_EQ(now.differ(), name != "adam");
      EXPECT_EQ(torch::equal(pair.w[0], trained), name == "adam");
    }
    EXPECT_TRUE(torch::equal(pair.w[0], trained)) << name;
  }
}

// Every bit of libtorch's own, in a memory format of convolutions too.
template <class Theirs, class Options>
void expect_libtorchs_bits(const std::string& name, const Options& options) {
  for (const auto format : {torch::MemoryFormat::Contiguous, torch::MemoryFormat::ChannelsLast}) {
    torch::manual_seed(7);
    const torch::Tensor start = torch::randn({3, 5, 3, 3}).contiguous(format);
    torch::Tensor ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
    const auto optimizer = make_baseline(name, {ours}, {.rate = 0.01, .weight_decay = 0.1});
    Theirs reference({theirs}, options);
    for (int step = 0; step < 10; ++step) {
      ours.mutable_grad() = theirs.mutable_grad() = torch::randn({3, 5, 3, 3}).contiguous(format);
      optimizer->step();
      reference.step();
      ASSERT_TRUE(torch::equal(ours, theirs)) << name << ", step " << step;
    }
  }
}

TEST(Libtorchs, OptimizersHaveItsBits) {
  namespace optim = torch::optim;
  expect_libtorchs_bits<optim::SGD>("momentum", optim::SGDOptions(0.01).momentum(0.9).weight_decay(0.1));
  expect_libtorchs_bits<optim::Adam>("adam", optim::AdamOptions(0.01).eps(1e-7).weight_decay(0.1));
  expect_libtorchs_bits<optim::AdamW>("adamw", optim::AdamWOptions(0.01).eps(1e-7).weight_decay(0.1));
}

TEST(Registry, RefusesWhatThereIsNotAndNumbersOutOfRange) {
  const auto refused = [](const std::string& name, const BaselineOptions& options) {
    EXPECT_THROW(make_baseline(name, {vector_of({1})}, options), Error) << name;
  };
  EXPECT_THROW(optimizer_info("adamant"), Error);
  refused("adamant", {});
  refused("adam", {.rate = 0});
  refused("adam", {.settings = {{"beta1", 0.5}}});
  refused("amsgrad", {.settings = {{"beta3", 0.5}}});
  refused("amsgrad", {.settings = {{"beta1", 1}}});
  refused("amsgrad", {.settings = {{"bias_correction", 0.5}}});
  refused("adashift", {.settings = {{"delay", 0}}});
  refused("adashift", {.settings = {{"delay", 2.5}}});
  refused("adabound", {.settings = {{"gamma", 0}}});
  const auto fine = make_baseline("adabound", {vector_of({1})}, {.settings = {{"gamma", 0.5}}});
  const auto& options = dynamic_cast<const OptimizerOptions&>(fine->param_groups()[0].options());
  EXPECT_EQ(options.at("gamma"), 0.5);
  EXPECT_EQ(options.at("final_rate"), 0.1);
  EXPECT_THROW(options.at("delay"), Error);
}

TEST(Registry, TheDocumentationHasEveryDefault) {
  const std::string page = read_file(LIPSCHITZLR_TEST_DIR "/../docs/networks.md");
  for (const std::string& name : baselines()) {
    const std::size_t begin = page.find("### `" + name + "`: " + optimizer_info(name).summary);
    ASSERT_NE(begin, std::string::npos) << name;
    const std::string part = page.substr(begin, page.find("\n#", begin) - begin);
    EXPECT_NE(part.find(fmt::format("| `--rate` | its rate | {:g} |", default_rate(name))), std::string::npos) << name;
    for (const OptimizerSetting& setting : optimizer_info(name).settings) {
      const std::string row = fmt::format("| `--set {}=` | {} | {:g} |", setting.name, setting.meaning, setting.value);
      EXPECT_NE(part.find(row), std::string::npos) << name << ": " << row;
    }
  }
}

TEST(Registry, EveryOptimizerSaysWhatItIs) {
  EXPECT_GE(baselines().size(), 7u);
  for (const OptimizerInfo& info : optimizers()) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_GT(info.rate, 0) << info.name;
    EXPECT_EQ(info.computed_rate, info.paper.empty()) << info.name;
    for (const OptimizerSetting& setting : info.settings) EXPECT_FALSE(setting.meaning.empty()) << setting.name;
  }
}

}  // namespace
}  // namespace lipschitzlr::nn

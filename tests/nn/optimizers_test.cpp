#include "lipschitzlr/nn/optimizers.hpp"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim.h>
#include <torch/serialize.h>

#include <cmath>
#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::nn {
namespace {

constexpr int kSteps = 10;
constexpr std::size_t kSize = 5;

// Gradients and norms that depend on nothing but the step.
struct Stream {
  std::vector<double> gradient(int step) const {
    Random random(static_cast<std::uint64_t>(100 + step));
    std::vector<double> values(kSize);
    for (double& value : values) value = random.normal();
    return values;
  }
  PenultimateNorms norms(int step) const { return {20.0 + 3 * step, 30.0 + step, 40.0 + 2 * step, 8}; }
};

torch::Tensor parameter_of(const std::vector<double>& values) { return torch::tensor(values, torch::kDouble); }

std::vector<double> start() { return {1, -2, 0.5, 3, -0.25}; }

ControllerOptions controller_options(rate::RuleOptions rule_options) {
  ControllerOptions options;
  options.rule_options = rule_options;
  options.loss = cross_entropy(4);
  options.announces_epochs = true;
  options.second_moment = rate::SecondMoment::coded;
  return options;
}

// Steps of the stream; an epoch has three.
void run(int from, int to, torch::Tensor& w, Optimizer& optimizer, Tap& tap) {
  const Stream stream;
  for (int step = from; step < to; ++step) {
    w.mutable_grad() = parameter_of(stream.gradient(step));
    tap.add(stream.norms(step));
    optimizer.step();
    if (step % 3 == 2) optimizer.controller().end_epoch();
  }
}

// What the paper's algorithms do, written out number by number: the slow reference.
struct PaperReference {
  std::string rule;
  rate::RuleOptions options;
  bool corrected = false;
  double weight_decay = 0;

  std::vector<double> w = start(), first = std::vector<double>(kSize), second = first;
  double k1 = 0, k2 = 0;
  int updates = 0;

  // (k-1)/(k m) = 3/32 for 4 classes and 8 rows.
  static constexpr double kFactor = 3.0 / 32;

  double rate(const PenultimateNorms& norms, int step) {
    const double g = kFactor * norms.frobenius, s = kFactor * kFactor * norms.square_frobenius;
    const bool adam = rule == "auto-adam";
    k1 = adam ? options.beta1 * k1 + (1 - options.beta1) * g : options.beta * k1 + (1 - options.beta) * g;
    k2 = adam ? options.beta2 * k2 + (1 - options.beta2) * s : options.beta * k2 + (1 - options.beta) * s;
    ++updates;
    const auto corrected_by = [&](double beta) { return options.bias_correction ? 1 - std::pow(beta, updates) : 1; };
    double eta = 0;
    if (rule == "sgd") eta = 1 / g;
    if (rule == "adamo") eta = corrected_by(options.beta) / k1;
    if (rule == "rmsprop") eta = (std::sqrt(k2 / corrected_by(options.beta)) + options.epsilon) / g;
    if (adam) eta = (std::sqrt(k2 / corrected_by(options.beta2)) + options.epsilon) * corrected_by(options.beta1) / k1;
    return eta / (1 + options.decay * step);
  }

  void step(std::vector<double> gradient, double eta, int step) {
    const double beta1 = rule == "auto-adam" ? options.beta1 : options.beta;
    const double beta2 = rule == "auto-adam" ? options.beta2 : options.beta;
    const double fix1 = corrected ? 1 - std::pow(beta1, step + 1) : 1,
                 fix2 = corrected ? 1 - std::pow(beta2, step + 1) : 1;
    for (std::size_t i = 0; i < kSize; ++i) {
      const double g = gradient[i] + weight_decay * w[i];
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      const double root = std::sqrt(second[i] / fix2) + options.epsilon;
      if (rule == "sgd") w[i] -= eta * g;
      if (rule == "adamo") w[i] -= eta * first[i] / fix1;
      if (rule == "rmsprop") w[i] -= eta * g / root;
      if (rule == "auto-adam") w[i] -= eta * first[i] / fix1 / root;
    }
  }
};

std::unique_ptr<Optimizer> make(const std::string& rule, Optimizer::Groups groups, std::shared_ptr<Tap> tap,
                                const ControllerOptions& options, OptimizerOptions defaults = {}) {
  if (rule == "sgd") return std::make_unique<LipschitzSGD>(groups, tap, options, defaults);
  if (rule == "adamo") return std::make_unique<AdaMo>(groups, tap, options, defaults);
  if (rule == "rmsprop") return std::make_unique<AdaptiveRMSprop>(groups, tap, options, defaults);
  return std::make_unique<AutoAdam>(groups, tap, options, defaults);
}

struct Case {
  std::string rule;
  bool corrected;
  double decay, weight_decay;
};

class PaperOptimizer : public testing::TestWithParam<Case> {};

TEST_P(PaperOptimizer, FollowsTheSlowReferenceForTenSteps) {
  const Case& given = GetParam();
  rate::RuleOptions rule_options;
  rule_options.update = rate::Update::per_iteration;
  rule_options.bias_correction = given.corrected;
  rule_options.decay = given.decay;
  PaperReference reference{given.rule, rule_options, given.corrected, given.weight_decay};

  torch::Tensor w = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  const auto defaults = OptimizerOptions().weight_decay(given.weight_decay).bias_correction(given.corrected);
  const auto optimizer = make(given.rule, {{{w}}}, tap, controller_options(rule_options), defaults);
  const Stream stream;
  for (int step = 0; step < kSteps; ++step) {
    w.mutable_grad() = parameter_of(stream.gradient(step));
    tap->add(stream.norms(step));
    optimizer->step();
    const double eta = reference.rate(stream.norms(step), step);
    reference.step(stream.gradient(step), eta, step);
    ASSERT_NEAR(optimizer->param_groups()[0].options().get_lr(), eta, 1e-12 * eta);
    ASSERT_TRUE(torch::allclose(w, parameter_of(reference.w), 1e-10, 1e-12)) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(AllRules, PaperOptimizer,
                         testing::Values(Case{"sgd", false, 0, 0}, Case{"sgd", false, 0.1, 0.01},
                                         Case{"adamo", false, 0, 0}, Case{"adamo", true, 0.1, 0.01},
                                         Case{"rmsprop", false, 0, 0}, Case{"rmsprop", true, 0.1, 0.01},
                                         Case{"auto-adam", false, 0, 0}, Case{"auto-adam", true, 0.1, 0.01}));

TEST(LipschitzSgd, PerEpochUsesTheFirstBatchThenTheLargestNormOfTheEpoch) {
  torch::Tensor w = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  LipschitzSGD optimizer({w}, tap, controller_options({}));
  const auto step_with = [&](double norm) {
    w.mutable_grad() = torch::zeros_like(w);
    tap->add({norm, norm, norm, 8});
    optimizer.step();
    return optimizer.param_groups()[0].options().get_lr();
  };
  EXPECT_DOUBLE_EQ(step_with(10), 32.0 / 3 / 10);
  EXPECT_DOUBLE_EQ(step_with(40), 32.0 / 3 / 10);
  EXPECT_DOUBLE_EQ(step_with(20), 32.0 / 3 / 10);
  optimizer.controller().end_epoch();
  EXPECT_DOUBLE_EQ(step_with(1), 32.0 / 3 / 40);
}

// The first batch gives a rate to begin with; the largest norm of the first epoch gives the one for the whole run.
TEST(LipschitzSgd, FixedPolicyKeepsTheConstantOfTheFirstEpoch) {
  torch::Tensor w = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  rate::RuleOptions fixed;
  fixed.fixed = true;
  LipschitzSGD optimizer({w}, tap, controller_options(fixed));
  const auto expect_rate = [&](double norm, double norm_of_rate) {
    w.mutable_grad() = torch::zeros_like(w);
    tap->add({norm, norm, norm, 8});
    optimizer.step();
    EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 32.0 / 3 / norm_of_rate);
  };
  expect_rate(10, 10);
  std::stringstream archive;
  torch::save(optimizer, archive);  // a guess that was saved is still one
  torch::load(optimizer, archive);
  expect_rate(40, 10);
  expect_rate(5, 10);
  optimizer.controller().end_epoch();
  for (const double norm : {80.0, 2.0}) {
    expect_rate(norm, 40);
    optimizer.controller().end_epoch();
  }
}

TEST(AdaMo, TheFirstEpochHasItsOwnRateThenKStartsThere) {
  torch::Tensor w = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  rate::RuleOptions first;
  first.first_rate = 0.1;
  AdaMo optimizer({w}, tap, controller_options(first));
  w.mutable_grad() = torch::zeros_like(w);
  tap->add({64, 64, 64, 8});  // G = 3/32 * 64 = 6
  optimizer.step();
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 0.1);
  optimizer.controller().end_epoch();
  tap->add({64, 64, 64, 8});
  optimizer.step();
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 1 / (0.9 * 0.1 + 0.1 * 6));
}

TEST(Optimizers, ContinueFromAnArchiveBitForBit) {
  for (const std::string rule : {"sgd", "adamo", "rmsprop", "auto-adam"}) {
    torch::Tensor whole = parameter_of(start()).requires_grad_(), half = parameter_of(start()).requires_grad_();
    auto tap = std::make_shared<Tap>(), half_tap = std::make_shared<Tap>(), rest_tap = std::make_shared<Tap>();
    const ControllerOptions options = controller_options({});
    const auto one = make(rule, {{{whole}}}, tap, options), two = make(rule, {{{half}}}, half_tap, options);
    run(0, kSteps, whole, *one, *tap);
    run(0, 4, half, *two, *half_tap);
    std::stringstream archive;
    torch::save(*two, archive);
    torch::Tensor rest = half.detach().clone().requires_grad_();
    const auto three = make(rule, {{{rest}}}, rest_tap, options);
    torch::load(*three, archive);
    run(4, kSteps, rest, *three, *rest_tap);
    EXPECT_TRUE(torch::equal(whole, rest)) << rule;
  }
}

TEST(Optimizers, RefuseTheArchiveOfAnother) {
  torch::Tensor w = parameter_of(start()).requires_grad_();
  torch::optim::SGD other({w}, 0.1);
  std::stringstream archive;
  torch::save(other, archive);
  LipschitzSGD optimizer({w}, std::make_shared<Tap>(), controller_options({}));
  EXPECT_THROW(torch::load(optimizer, archive), Error);
}

// K's average, which makes the rate, and V's, which makes the step, must both take the archive's beta.
TEST(Optimizers, TakeTheOptionsOfTheArchive) {
  rate::RuleOptions slow;
  slow.beta = 0.99;
  torch::Tensor whole = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>(), other_tap = std::make_shared<Tap>();
  AdaMo optimizer({whole}, tap, controller_options(slow));
  run(0, 4, whole, optimizer, *tap);
  std::stringstream archive;
  torch::save(optimizer, archive);
  torch::Tensor rest = whole.detach().clone().requires_grad_();
  AdaMo other({rest}, other_tap, controller_options({}));
  torch::load(other, archive);
  run(4, kSteps, whole, optimizer, *tap);
  run(4, kSteps, rest, other, *other_tap);
  EXPECT_TRUE(torch::equal(whole, rest));
}

TEST(Optimizers, AnotherRulesArchiveChangesNothing) {
  torch::Tensor w = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  LipschitzSGD sgd({w}, tap, controller_options({}));
  AdaMo adamo({w}, tap, controller_options({}));
  run(0, 2, w, sgd, *tap);
  std::stringstream archive;
  torch::save(sgd, archive);
  const std::string before = adamo.controller().save();
  EXPECT_THROW(torch::load(adamo, archive), Error);
  EXPECT_TRUE(adamo.snapshot().tensors.empty());
  EXPECT_EQ(adamo.controller().save(), before);
}

TEST(Optimizers, AGroupAddedLaterCountsInTheWeightNorm) {
  torch::Tensor w = torch::full({1}, 2.0, torch::kDouble).requires_grad_();
  torch::Tensor large = torch::full({1}, 100.0, torch::kDouble).requires_grad_();
  auto tap = std::make_shared<Tap>();
  ControllerOptions options = controller_options({});
  options.l2 = 0.5;
  LipschitzSGD optimizer({w}, tap, options);
  optimizer.add_param_group(torch::optim::OptimizerParamGroup({large}));
  w.mutable_grad() = torch::zeros_like(w);
  tap->add({64, 64, 64, 8});  // G = 3/32 * 64 = 6, and 0.5 * 100
  optimizer.step();
  EXPECT_DOUBLE_EQ(optimizer.controller().numbers().weight_norm, 100);
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), 1.0 / 56);
}

TEST(Optimizers, GroupsHaveTheirOwnDecayAndScale) {
  torch::Tensor a = parameter_of(start()).requires_grad_(), b = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  Optimizer::Groups groups;
  groups.emplace_back(std::vector<torch::Tensor>{a},
                      std::make_unique<OptimizerOptions>(OptimizerOptions().weight_decay(0.5)));
  groups.emplace_back(std::vector<torch::Tensor>{b}, std::make_unique<OptimizerOptions>(OptimizerOptions().scale(2)));
  LipschitzSGD optimizer(groups, tap, controller_options({}));
  a.mutable_grad() = torch::ones_like(a);
  b.mutable_grad() = torch::ones_like(b);
  tap->add({32.0 / 3, 1, 1, 8});  // G = 1
  optimizer.step();
  EXPECT_TRUE(torch::allclose(a, parameter_of(start()) - (1 + 0.5 * parameter_of(start()))));
  EXPECT_TRUE(torch::allclose(b, parameter_of(start()) - 2));
}

TEST(Optimizers, LeaveFrozenParametersAndThoseWithoutGradientAlone) {
  torch::Tensor moved = parameter_of(start()).requires_grad_(), frozen = parameter_of(start());
  torch::Tensor unused = parameter_of(start()).requires_grad_();
  auto tap = std::make_shared<Tap>();
  AutoAdam optimizer({moved, frozen, unused}, tap, controller_options({}), OptimizerOptions().weight_decay(0.1));
  tap->add({10, 10, 10, 8});
  moved.mutable_grad() = torch::ones_like(moved);
  optimizer.step();
  EXPECT_FALSE(torch::equal(moved, parameter_of(start())));
  EXPECT_TRUE(torch::equal(frozen, parameter_of(start())));
  EXPECT_TRUE(torch::equal(unused, parameter_of(start())));
}

TEST(Optimizers, AnEmptyParameterAndASparseGradientAreToldApart) {
  auto tap = std::make_shared<Tap>();
  tap->add({10, 10, 10, 8});
  torch::Tensor empty = torch::zeros({0}, torch::kDouble).requires_grad_();
  empty.mutable_grad() = torch::zeros({0}, torch::kDouble);
  LipschitzSGD fine({empty}, tap, controller_options({}));
  EXPECT_NO_THROW(fine.step());
  torch::Tensor w = torch::zeros({3, 2}, torch::kDouble).requires_grad_();
  w.mutable_grad() = torch::ones({3, 2}, torch::kDouble).to_sparse();
  LipschitzSGD optimizer({w}, tap, controller_options({}));
  EXPECT_THROW(optimizer.step(), Error);
}

TEST(Optimizers, SayWhatIsMissingWhenNothingWasMeasured) {
  torch::Tensor w = parameter_of(start()).requires_grad_();
  w.mutable_grad() = torch::ones_like(w);
  LipschitzSGD optimizer({w}, std::make_shared<Tap>(), controller_options({}));
  EXPECT_THROW(optimizer.step(), Error);
  EXPECT_THROW(LipschitzSGD({w}, nullptr, controller_options({})), Error);
}

TEST(Controller, TheLargestWeightCountsWithL2AndBuffersWhenGiven) {
  torch::Tensor small = torch::ones({4}), large = torch::full({4}, 10.0);
  auto tap = std::make_shared<Tap>();
  tap->add({32.0 / 3, 1, 1, 8});  // c K_z = 1
  ControllerOptions options = controller_options({});
  options.l2 = 0.1;
  torch::Tensor w = small.clone().requires_grad_();
  LipschitzSGD without({w}, tap, options);
  LipschitzSGD with({w}, tap, options, {}, {large});
  without.controller().begin_step();
  with.controller().begin_step();
  EXPECT_DOUBLE_EQ(without.controller().rate(), 1 / (1 + 0.1 * 2));
  EXPECT_DOUBLE_EQ(with.controller().rate(), 1 / (1 + 0.1 * 20));
  EXPECT_TRUE(std::isnan(largest_norm({small, torch::full({1}, NAN), large})));
}

// The rate that one batch of these norms gives.
double rate_of(const PenultimateNorms& norms, const ControllerOptions& options) {
  auto tap = std::make_shared<Tap>();
  LipschitzSGD optimizer({parameter_of({1})}, tap, options);
  tap->add(norms);
  optimizer.step();
  EXPECT_EQ(optimizer.controller().numbers().penultimate_norm, norms.frobenius);
  return optimizer.controller().rate();
}

TEST(Controller, TakesAGivenConstantWhateverIsMeasured) {
  ControllerOptions options = controller_options({});
  options.gradient_bound = 4;
  EXPECT_DOUBLE_EQ(rate_of({100, 100, 100, 8}, options), 0.25);
}

// The largest batch by one norm need not be the one with the largest S: all are looked at, also after a resume.
TEST(Controller, TakesTheLargestElementwiseSecondMomentOfTheBatches) {
  const std::vector<std::vector<double>> batches = {{3, 0, 0, 0}, {1.5, 1.5, 1.5, 1.5}, {-2, 2, -2, 2}};
  const double l2 = 0.5, weight = 2, c = 3.0 / (4 * 2);  // cross-entropy of 4 classes, 2 rows
  ControllerOptions options = controller_options({});
  options.second_moment = rate::SecondMoment::elementwise;
  options.l2 = l2;
  const auto norms_of = [](const std::vector<double>& batch) {
    return measure_penultimate(torch::tensor(batch, torch::kDouble).view({2, 2}));
  };
  double largest = 0;
  for (const std::vector<double>& batch : batches) {
    double sum = 0;
    for (const double a : batch) sum += std::pow(c * a + l2 * weight, 4);
    largest = std::max(largest, std::sqrt(sum));
  }
  auto tap = std::make_shared<Tap>(), again = std::make_shared<Tap>();
  AutoAdam optimizer({parameter_of({weight})}, tap, options), resumed({parameter_of({weight})}, again, options);
  tap->add(norms_of(batches[0]));
  tap->add(norms_of(batches[1]));
  resumed.controller().load(optimizer.controller().save());
  for (const auto& [one, of] : {std::pair{&optimizer, tap}, {&resumed, again}}) {
    of->add(norms_of(batches[2]));
    one->controller().observe();
    EXPECT_NEAR(one->controller().numbers().second_moment, largest, 1e-12);
  }
}

TEST(Controller, KnowsBinaryAndRegressionLosses) {
  const PenultimateNorms norms{8, 16, 1, 4};
  EXPECT_DOUBLE_EQ(rate_of(norms, {.loss = binary_cross_entropy()}), 1.0);    // K_z / 2m = 1
  EXPECT_DOUBLE_EQ(rate_of(norms, {.loss = squared_error(2, 3)}), 1.0 / 10);  // (2 + 3)/4 * 8
}

TEST(Controller, ASchedulesFactorGoesWithAnyRule) {
  ControllerOptions options{.loss = cross_entropy(4)};
  options.schedule = rate::Schedule::step;
  options.schedule_steps = 4;
  auto tap = std::make_shared<Tap>();
  LipschitzSGD optimizer({parameter_of({1})}, tap, options);
  for (const double factor : {1.0, 1.0, 0.1, 0.01, 0.01}) {
    tap->add({32.0 / 3, 1, 1, 8});  // G = 1
    optimizer.step();
    EXPECT_DOUBLE_EQ(optimizer.param_groups()[0].options().get_lr(), factor);
  }
}

TEST(Controller, RefusesADamagedState) {
  LipschitzSGD optimizer({parameter_of({1})}, std::make_shared<Tap>(3));
  RateController& controller = optimizer.controller();
  const std::string good = controller.save();
  const auto changed = [&](const std::string& from, const std::string& to) {
    const std::size_t place = good.find(from);
    EXPECT_NE(place, std::string::npos) << from << " in " << good;
    return std::string(good).replace(place, from.size(), to);
  };
  for (const std::string& bad :
       {std::string("{}"), std::string("not JSON"), changed("\"steps\":0", "\"steps\":-1"),
        changed("\"batches\":0", "\"batches\":-3"), changed("\"batches\":0", "\"batches\":1e300"),
        changed("\"numbers\":[0.0", "\"numbers\":[-1.0"),
        changed("\"last\":[0.0,0.0,0.0,0", "\"last\":[0.0,0.0,0.0,-8"),
        changed("\"update\":\"iteration\"", "\"update\":\"epoch\"")}) {
    EXPECT_THROW(controller.load(bad), Error) << bad;
    EXPECT_EQ(controller.save(), good);
  }
  EXPECT_NO_THROW(controller.load(good));
}

}  // namespace
}  // namespace lipschitzlr::nn

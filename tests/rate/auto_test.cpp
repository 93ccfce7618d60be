// The automatic rate: by hand over a few steps, and against the rule written out from its definition over many.
#include "lipschitzlr/rate/auto.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::rate {
namespace {

using Weights = AutoDecision::Weights;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kOverflow = std::numeric_limits<double>::infinity();
constexpr double kRootHalfPi = 1.2533141373155003;

AutoNorms norms(double gradient, double head) {
  return {.gradient = gradient, .matrices = gradient / 2, .head_constant = head, .head_gradient = head / 2};
}

// Gives norms only when they are wanted.
AutoDecision feed(Auto& rule, double loss, double gradient = 100, double head = 8) {
  return rule.observe(loss, rule.wants_norms() ? std::optional(norms(gradient, head)) : std::nullopt);
}

std::string refusal(const std::function<void()>& call, Fault fault) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Auto, TwoStepsByHand) {
  Auto rule({.total_steps = 100, .weight_tensors = 2});
  const double growth = std::pow(100, 0.2);  // 2.51, more than 1.3
  ASSERT_GT(growth, 1.3);
  // b = 2 / (64 * 2 * 8) = 1/512, P = 2 / (1.2533 * 100) = 0.01596, Hb = 2/16 = 0.125: b grows by 1.3.
  EXPECT_DOUBLE_EQ(feed(rule, 2).rate, 1.3 / 512 * 0.99);
  EXPECT_DOUBLE_EQ(rule.numbers().measured_rate, 2 / (kRootHalfPi * 100));
  EXPECT_DOUBLE_EQ(rule.numbers().closed_form_rate, 0.125);
  // F = 1.8 + 0.1, G = 90 + 20, H = 7.2 + 0.4; the estimate is still far above.
  EXPECT_DOUBLE_EQ(feed(rule, 1, 200, 4).rate, 1.69 / 512 * 0.98);
  EXPECT_DOUBLE_EQ(rule.numbers().loss, 1.9);
  EXPECT_DOUBLE_EQ(rule.numbers().gradient, 110);
  EXPECT_DOUBLE_EQ(rule.numbers().head, 7.6);
  EXPECT_DOUBLE_EQ(rule.numbers().measured_rate, 1.9 / (kRootHalfPi * 110));
  EXPECT_DOUBLE_EQ(rule.numbers().closed_form_rate, 1.9 / 15.2);
}

TEST(Auto, IsFrozenAtTheGeometricMeanOfTheEstimatesAndFallsLinearlyToZero) {
  Auto rule({.total_steps = 400, .weight_tensors = 1});  // calibrates in 40 steps
  double product = 1;
  for (int step = 1; step <= 40; ++step) {
    ASSERT_TRUE(rule.wants_norms());
    feed(rule, 2, step % 2 == 0 ? 50 : 80, 400);
    product *= std::pow(rule.numbers().measured_rate, 1 / 40.0);
  }
  for (int step = 41; step <= 400; ++step) {
    EXPECT_EQ(rule.wants_norms(), step % 10 == 0);  // the guard's look at the gradient
    const double rate = feed(rule, 2, 50, 400).rate;
    if (step > 100) {
      EXPECT_NEAR(rate, product * (1 - step / 400.0), 1e-13);
    }
  }
  EXPECT_EQ(rule.numbers().rate, 0);
  const std::string words = refusal([&] { feed(rule, 2); }, Fault::usage);
  EXPECT_NE(words.find("all 400 steps"), std::string::npos) << words;
}

TEST(Auto, WithoutAHorizonTheRateStays) {
  Auto rule({.weight_tensors = 3});
  for (int step = 1; step <= 3000; ++step) feed(rule, 2, 50, 400);
  EXPECT_NEAR(rule.numbers().rate, 2 / (kRootHalfPi * 50), 1e-13);
}

// The definition, with sums in place of running averages: F is a weighted sum of all losses so far.
struct Definition {
  double total;
  double tensors;
  std::vector<double> losses = {}, gradients = {}, heads = {};
  std::vector<double> bases = {};

  static double average(const std::vector<double>& values) {
    double sum = values[0] * std::pow(0.9, static_cast<double>(values.size() - 1));
    for (std::size_t i = 1; i < values.size(); ++i) {
      sum += 0.1 * values[i] * std::pow(0.9, static_cast<double>(values.size() - 1 - i));
    }
    return sum;
  }

  double estimate_after(std::size_t steps) const {
    const auto first = [&](const std::vector<double>& all) {
      return average({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(steps)});
    };
    return std::max(first(losses) / std::sqrt(std::acos(-1.0) / 2) / first(gradients),
                    first(losses) / tensors / first(heads));
  }

  double rate(double loss, double gradient, double head) {
    losses.push_back(loss);
    gradients.push_back(gradient);
    heads.push_back(head);
    const auto step = losses.size();
    const double window = std::max(std::min(total / 10, 100.0), std::min(25.0, total / 2));
    const auto calibrating = static_cast<std::size_t>(window);
    double estimate = 0;
    if (step <= calibrating) {
      estimate = estimate_after(step);
    } else {
      double logs = 0;
      for (std::size_t i = 1; i <= calibrating; ++i) logs += std::log(estimate_after(i));
      estimate = std::exp(logs / static_cast<double>(calibrating));
    }
    const double growth = std::min(1.3, std::max(1.1, std::exp(std::log(100) / (0.05 * total))));
    const double before = bases.empty() ? loss / 64 / tensors / head : bases.back();
    bases.push_back(std::min(estimate, growth * before));
    return bases.back() * (total - static_cast<double>(step)) / total;
  }
};

TEST(Auto, IsItsDefinitionOverWholeTrainings) {
  for (const std::uint64_t total : {7u, 60u, 300u, 1500u}) {
    for (const std::uint64_t tensors : {1u, 5u}) {
      Auto rule({.total_steps = total, .weight_tensors = tensors});
      Definition definition{static_cast<double>(total), static_cast<double>(tensors)};
      Random random(total + tensors);
      for (std::uint64_t step = 1; step <= total; ++step) {
        const double loss = (2 + random.uniform()) / (1 + 0.01 * static_cast<double>(step));
        const double gradient = std::exp(2 + random.normal()), head = std::exp(random.normal());
        const double rate = feed(rule, loss, gradient, head).rate;
        // After the calibration the definition takes time, and has one number only.
        if (step > 200 && step % 97 != 0) {
          definition.losses.push_back(loss);
          definition.gradients.push_back(gradient);
          definition.heads.push_back(head);
          definition.bases.push_back(rate / (1 - static_cast<double>(step) / static_cast<double>(total)));
          continue;
        }
        ASSERT_NEAR(rate, definition.rate(loss, gradient, head), 1e-12 * rate + 1e-18) << total << ", step " << step;
      }
      EXPECT_EQ(rule.numbers().rollbacks, 0u);
    }
  }
}

TEST(Auto, WithoutAHeadTheMeasuredConstantIsAll) {
  Auto rule({.total_steps = 100, .weight_tensors = 7});
  const double rate = rule.observe(2, AutoNorms{.gradient = 100, .matrices = 50}).rate;
  EXPECT_DOUBLE_EQ(rate, 1.3 * 2 / (kRootHalfPi * 100) / 64 * 0.99);
  EXPECT_EQ(rule.certificate(), "");
  EXPECT_EQ(rule.introduction().find("head"), std::string::npos);
}

TEST(Auto, AStepThatTellsNothingHasTheRateZero) {
  Auto rule({.total_steps = 100});
  EXPECT_EQ(feed(rule, 2, 0, 0).rate, 0);       // no gradient at all
  EXPECT_EQ(feed(rule, 2, 0, 1e-320).rate, 0);  // whose estimate is no number
  EXPECT_GT(feed(rule, 2).rate, 0);
  EXPECT_TRUE(std::isfinite(rule.numbers().rate));
}

TEST(Auto, ALossThatIsNotFiniteEarlySendsTheWeightsToTheStartAndCalibratesAgain) {
  for (const double bad : {kNotANumber, kOverflow}) {
    Auto rule({.total_steps = 400, .weight_tensors = 2});
    const double first = feed(rule, 2).rate;
    for (int step = 2; step <= 45; ++step) feed(rule, 2);
    ASSERT_FALSE(rule.wants_norms());
    const AutoDecision decision = rule.observe(bad, {});
    EXPECT_EQ(decision.weights, Weights::to_start);
    EXPECT_NE(decision.reason.find("step 46: the loss is"), std::string::npos) << decision.reason;
    EXPECT_NE(decision.reason.find("to the start"), std::string::npos) << decision.reason;
    EXPECT_EQ(rule.numbers().rollbacks, 1u);
    for (int step = 47; step <= 86; ++step) EXPECT_TRUE(rule.wants_norms()) << step;
    EXPECT_DOUBLE_EQ(feed(rule, 2).rate, first / (1 - 1 / 400.0) * (1 - 47 / 400.0));  // the same start
    for (int step = 48; step <= 200; ++step) feed(rule, 2);
    EXPECT_NEAR(rule.numbers().rate, 0.125 / 2 * 0.5, 1e-12);  // half of Hb = 2 / (2 * 8), half of the way
  }
}

TEST(Auto, AGradientThatIsNotFiniteIsSeenWhereItIsMeasured) {
  Auto rule({.total_steps = 400});
  feed(rule, 2);
  EXPECT_EQ(feed(rule, 2, kOverflow).weights, Weights::to_start);
  EXPECT_EQ(feed(rule, 2, 100, kNotANumber).weights, Weights::to_start);
}

TEST(Auto, AGrownLossSendsTheWeightsToTheOlderSnapshot) {
  Auto rule({.total_steps = 400, .weight_tensors = 2});
  std::vector<int> kept;
  for (int step = 1; step <= 99; ++step) {
    const AutoDecision decision = feed(rule, 2);
    EXPECT_EQ(decision.weights, Weights::step);
    if (decision.keep) kept.push_back(step);
  }
  EXPECT_EQ(kept, (std::vector<int>{10, 20, 30, 40, 50, 60, 70, 80, 90}));
  const double before = rule.numbers().rate / (1 - 99 / 400.0);
  AutoDecision decision;
  int step = 100;
  for (; (decision = feed(rule, 20)).weights == Weights::step; ++step) {
    ASSERT_LT(step, 110);
  }
  // F = 2 + 18 (1 - 0.9^n) > 6 for n = 3: at step 102, when snapshots of steps 90 and 100 are kept.
  EXPECT_EQ(step, 102);
  EXPECT_EQ(decision.weights, Weights::to_snapshot);
  EXPECT_NE(decision.reason.find("to step 90"), std::string::npos) << decision.reason;
  feed(rule, 2);
  EXPECT_NEAR(rule.numbers().rate, before / 2 * (1 - 103 / 400.0), 1e-12);  // c = 1/2
  // The snapshot that was put back is the only one.
  for (step = 104; (decision = feed(rule, 20)).weights == Weights::step; ++step) {
    ASSERT_LT(step, 110);
  }
  EXPECT_NE(decision.reason.find("to step 90"), std::string::npos) << decision.reason;
}

TEST(Auto, AVanishedGradientSendsTheWeightsToTheStartUnlessTheLossIsSmall) {
  for (const double loss : {2.0, 0.1}) {
    Auto rule({.total_steps = 1000});
    for (int step = 1; step <= 30; ++step) feed(rule, 2);
    for (int step = 31; step <= 80; ++step) feed(rule, loss);
    const std::optional<AutoNorms> dead = AutoNorms{.gradient = 1, .matrices = 1e-6, .head_constant = 1};
    EXPECT_EQ(rule.observe(loss, dead).weights, Weights::step);
    EXPECT_EQ(rule.observe(loss, dead).weights, Weights::step);
    const AutoDecision decision = rule.observe(loss, dead);
    EXPECT_EQ(decision.weights, loss == 2 ? Weights::to_start : Weights::step) << loss;
    if (loss == 2) {
      EXPECT_NE(decision.reason.find("vanished"), std::string::npos);
    }
  }
}

TEST(Auto, GivesUpAfterTwelveRollbacks) {
  Auto rule({.total_steps = 1000});
  for (int time = 0; time < 12; ++time) EXPECT_EQ(feed(rule, kNotANumber).weights, Weights::to_start);
  const std::string words = refusal([&] { feed(rule, kNotANumber); }, Fault::training);
  EXPECT_NE(words.find("after 12 rollbacks"), std::string::npos) << words;
}

TEST(Auto, RefusesWhatItCantUse) {
  Auto rule({.total_steps = 1000});
  EXPECT_NE(refusal([&] { rule.observe(2, {}); }, Fault::usage).find("norms"), std::string::npos);
  EXPECT_NE(refusal([&] { feed(rule, -0.5); }, Fault::usage).find("lower bound"), std::string::npos);
  EXPECT_EQ(rule.steps(), 0u);
  EXPECT_THROW(Auto({.weight_tensors = 0}), Error);
}

TEST(Auto, TheCertificateCountsExcesses) {
  Auto rule({.total_steps = 1000});
  feed(rule, 2, 100, 8);
  rule.observe(2, AutoNorms{.gradient = 10, .matrices = 5, .head_constant = 8, .head_gradient = 6});
  EXPECT_NE(rule.certificate().find("never exceeded its constant in 2 measured steps; it came to 0.75"),
            std::string::npos)
      << rule.certificate();
  rule.observe(2, AutoNorms{.gradient = 10, .matrices = 5, .head_constant = 8, .head_gradient = 8.001});
  EXPECT_EQ(rule.numbers().head_excesses, 1u);
  EXPECT_NE(rule.certificate().find("in 1 of 3 measured steps: this is a bug"), std::string::npos);
}

TEST(Auto, SaysWhyItIsNoBetterThanAConstant) {
  const auto why = [](double first, double last, double reached) {
    Auto rule({.total_steps = 1000});
    feed(rule, first, 100, 8);
    for (int step = 0; step < 60; ++step) feed(rule, last, 100, 8);
    return rule.shortfall(reached, 2.3);
  };
  const auto says = [](const std::string& text, const char* words) {
    return text.find(words) != std::string::npos ? testing::AssertionSuccess() : testing::AssertionFailure() << text;
  };
  EXPECT_EQ(why(100, 1, 2.2), "");
  EXPECT_EQ(why(2.3, 2.3, 2.29), "");
  EXPECT_TRUE(says(why(100, 13, 13.5), "the loss, 13.5, is not below 2.3"));
  EXPECT_TRUE(says(why(100, 13, 13.5), "it began at 100, because the outputs of the start are far too large"));
  EXPECT_TRUE(
      says(why(2.5, 0.5, 3), "in training it is 0.5036, so that what was learnt holds for these examples only"));
  EXPECT_TRUE(says(why(2.3, 13, 13.5), "it rose from 2.3 to 13 in the first steps, because from so small a start"));
  EXPECT_TRUE(says(why(2.4, 2.3, 2.31), "as if the outputs did not depend on the inputs; scale the inputs"));
  EXPECT_TRUE(says(why(5, 5, 5.2), "in training it is 5 after 61 steps; train longer"));
  EXPECT_TRUE(says(why(2.4, 2.3, kNotANumber), "the loss, nan, is not below"));
}

TEST(Auto, ContinuesWithTheSameBitsWhereverItWasSaved) {
  const AutoOptions options{.total_steps = 300, .weight_tensors = 3};
  const auto take = [](Auto& rule, int step) {
    const double loss = step == 20 ? kNotANumber : step > 100 && step < 112 ? 50 : 2 + 1.0 / step;
    feed(rule, loss, 50 + step % 7, 3 + step % 5);
  };
  Auto whole(options);
  std::vector<std::string> saved = {whole.save()};
  for (int step = 1; step <= 300; ++step) {
    take(whole, step);
    saved.push_back(whole.save());
  }
  EXPECT_GE(whole.numbers().rollbacks, 2u);
  for (std::size_t from = 0; from < saved.size(); from += 9) {
    Auto resumed(options);
    resumed.load(saved[from]);
    for (std::size_t step = from + 1; step < saved.size(); ++step) {
      take(resumed, static_cast<int>(step));
      ASSERT_EQ(resumed.save(), saved[step]) << "resumed after step " << from;
    }
  }
}

TEST(Auto, LeavesOutThePartsOfAnAblation) {
  const auto first_rate = [](const AutoParts& parts) {
    Auto rule({.total_steps = 100, .weight_tensors = 2, .parts = parts});
    return feed(rule, 2, 10, 8).rate;
  };
  // P = 2 / (1.2533 * 10), Hb = 2/16; the start is 2 / (64 * 16).
  EXPECT_DOUBLE_EQ(first_rate({.ramp = false}), 0.99 * 2 / (kRootHalfPi * 10));
  EXPECT_DOUBLE_EQ(first_rate({.ramp = false, .measured = false}), 0.99 * 0.125);
  EXPECT_DOUBLE_EQ(first_rate({.decay = false}), 1.3 / 512);
  Auto unguarded({.total_steps = 100, .parts = {.guard = false}});
  for (int step = 1; step <= 20; ++step) feed(unguarded, 1);
  for (int step = 1; step <= 20; ++step) feed(unguarded, 100);  // the guard would go back
  EXPECT_EQ(unguarded.numbers().rollbacks, 0u);
  EXPECT_NE(refusal([&] { feed(unguarded, kNotANumber); }, Fault::training).find("after 0 rollbacks"),
            std::string::npos);
}

TEST(Auto, GoesOnAlongANewLineWhenMoreStepsAreAnnounced) {
  Auto rule({.total_steps = 200, .weight_tensors = 2});
  for (int step = 1; step <= 200; ++step) feed(rule, 2);
  Auto more({.total_steps = 400, .weight_tensors = 2});
  more.load(rule.save());
  EXPECT_NEAR(feed(more, 2).rate, 0.125 * (1 - 201 / 400.0), 1e-12);
}

TEST(Auto, RefusesADamagedState) {
  Auto rule({.total_steps = 200});
  for (int step = 1; step <= 30; ++step) feed(rule, 2);
  const std::string good = rule.save();
  const nlohmann::json fields = nlohmann::json::parse(good);
  for (const auto& [name, value] : fields.items()) {
    for (const nlohmann::json& bad : {nlohmann::json(), nlohmann::json("x"), nlohmann::json(-1)}) {
      nlohmann::json damaged = fields;
      damaged[name] = bad;
      refusal([&] { rule.load(damaged.dump()); }, Fault::data);
    }
    nlohmann::json without = fields;
    without.erase(name);
    refusal([&] { rule.load(without.dump()); }, Fault::data);
  }
  refusal([&] { rule.load("{"); }, Fault::data);
  EXPECT_EQ(rule.save(), good);
}

}  // namespace
}  // namespace lipschitzlr::rate

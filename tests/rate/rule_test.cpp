// What all rules share: decay, guards, options, the registry, saving and loading.
#include "lipschitzlr/rate/rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/rate/registry.hpp"

namespace lipschitzlr::rate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Measurement drawn(Random& random) {
  return {.gradient_bound = std::exp(random.normal()),
          .second_moment = std::exp(3 * random.normal()),
          .penultimate_norm = 10 + random.uniform()};
}

// All but the constant rate, which has tests of its own.
std::vector<std::string> measuring_rules() {
  std::vector<std::string> names;
  for (const RuleInfo& info : rules()) {
    if (info.name != "constant") names.push_back(info.name);
  }
  return names;
}

std::string message_of(auto&& call, Fault fault) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Rule, DecayCountsStepsFromZero) {
  const auto rule = make_rule("sgd", {.decay = 1e-3});
  rule->observe({.gradient_bound = 0.5});
  EXPECT_DOUBLE_EQ(rule->rate(), 2);
  EXPECT_DOUBLE_EQ(rule->rate_at(0), 2);
  EXPECT_DOUBLE_EQ(rule->rate_at(1000), 1);
  EXPECT_DOUBLE_EQ(rule->rate_at(3000), 0.5);
  const auto first = make_rule("sgd", {.decay = 1, .first_rate = 0.1});
  EXPECT_DOUBLE_EQ(first->rate_at(1), 0.05);  // the first epoch decays too
}

TEST(Rule, HasNoRateBeforeItHasSeenAnything) {
  for (const std::string& name : measuring_rules()) {
    const auto rule = make_rule(name);
    EXPECT_EQ(rule->name(), name);
    EXPECT_TRUE(rule->measures());
    EXPECT_FALSE(rule->has_rate());
    message_of([&] { rule->rate(); }, Fault::usage);
    rule->end_epoch();
    EXPECT_FALSE(rule->has_rate());
    const auto started = make_rule(name, {.first_rate = 0.2});
    EXPECT_TRUE(started->has_rate());
    EXPECT_DOUBLE_EQ(started->rate(), 0.2);
  }
}

TEST(Rule, ConstantsThatAreNotFiniteOrNotAboveZeroStopItAndChangeNothing) {
  for (const std::string& name : measuring_rules()) {
    const auto rule = make_rule(name, {.first_rate = 0.2});
    for (const double bad : {0.0, -1.0, kInfinity, std::nan("")}) {
      message_of([&] { rule->observe({.gradient_bound = bad, .second_moment = 1, .penultimate_norm = 1}); },
                 Fault::training);
    }
    EXPECT_EQ(rule->observations(), 0u);
    EXPECT_TRUE(rule->holds_first_rate());
  }
  for (const char* name : {"rmsprop", "auto-adam"}) {
    EXPECT_EQ(message_of([&] { make_rule(name)->observe({.gradient_bound = 1, .second_moment = kInfinity}); },
                         Fault::training),
              std::string("the rule ") + name +
                  " can't make a rate of S = inf: it must be finite and above zero; look for inputs or weights that "
                  "vanished or exploded");
  }
  message_of([] { make_rule("rmsprop", {.coded_denominator = true})->observe({1, 1, 0}); }, Fault::training);
}

TEST(Rule, ARateThatOverflowsNamesTheNumbers) {
  const auto rule = make_rule("sgd");
  rule->observe({.gradient_bound = 1e-310});
  EXPECT_EQ(message_of([&] { rule->rate(); }, Fault::training),
            "the rule sgd gives the rate inf from G = 1e-310; look for inputs or weights that vanished or exploded");
}

TEST(Rule, OptionsThatMakeNoSenseAreNamed) {
  const auto refused = [](const std::string& option, const RuleOptions& options) {
    for (const RuleInfo& info : rules()) {
      const std::string message = message_of([&] { make_rule(info.name, options); }, Fault::usage);
      EXPECT_NE(message.find(option), std::string::npos) << message;
    }
  };
  refused("beta is 1", {.beta = 1});
  refused("beta is -0.1", {.beta = -0.1});
  refused("beta1 is 2", {.beta1 = 2});
  refused("beta2 is nan", {.beta2 = std::nan("")});
  refused("epsilon", {.epsilon = -1});
  refused("decay", {.decay = -1e-3});
  refused("decay", {.decay = kInfinity});
  refused("rate is -1", {.rate = -1});
  refused("first_rate", {.first_rate = 0});
  refused("initial_k1", {.initial_k1 = -1});
  refused("initial_k2", {.initial_k2 = kInfinity});
  refused("hold_averages", {.initial_k1 = 1, .hold_averages = true});
  refused("hold_averages", {.bias_correction = true, .initial_k1 = 1, .initial_k2 = 1, .hold_averages = true});
}

TEST(Rule, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(message_of([] { make_rule("adam"); }, Fault::usage),
            "there is no rate rule 'adam'; choose one of constant, sgd, adamo, rmsprop, auto-adam");
}

TEST(Rule, ASavedRuleContinuesBitForBit) {
  const std::vector<RuleOptions> kinds{
      {},
      {.beta = 0.7, .beta1 = 0.3, .bias_correction = true, .decay = 1e-3},
      {.first_rate = 0.1},
      {.update = Update::per_iteration, .first_rate = 0.1},
      {.fixed = true},
      {.epsilon = 1e-3, .coded_denominator = true, .initial_k1 = 1, .initial_k2 = 1e-6}};
  for (const std::string& name : measuring_rules()) {
    for (const RuleOptions& options : kinds) {
      for (int cut = 0; cut < 5; ++cut) {
        Random random(17);
        const auto whole = make_rule(name, options);
        for (int i = 0; i < cut; ++i) whole->observe(drawn(random));
        if (cut == 4) whole->end_epoch();
        const std::string text = whole->save();
        const auto resumed = make_rule(name);  // other options: the saved ones must win
        resumed->load(text);
        const auto loaded = load_rule(text);
        EXPECT_EQ(resumed->save(), text);
        for (int i = 0; i < 5; ++i) {
          if (i == 2) {
            for (Rule* rule : {whole.get(), resumed.get(), loaded.get()}) rule->end_epoch();
          }
          const Measurement measurement = drawn(random);
          for (Rule* rule : {whole.get(), resumed.get(), loaded.get()}) rule->observe(measurement);
          EXPECT_EQ(resumed->rate_at(7), whole->rate_at(7));
          EXPECT_EQ(loaded->rate_at(7), whole->rate_at(7));
        }
      }
    }
  }
}

TEST(Rule, DamagedTextsAreRefusedAndChangeNothing) {
  const auto rule = make_rule("adamo", {.first_rate = 0.1});
  rule->observe({.gradient_bound = 2});
  const std::string good = rule->save();
  const auto changed = [&](auto&& change) {
    nlohmann::json json = nlohmann::json::parse(good);
    change(json);
    return json.dump();
  };
  const std::vector<std::string> damaged{
      "",
      "{}",
      "[]",
      "3",
      good.substr(0, good.size() / 2),
      changed([](auto& json) { json["version"] = 2; }),
      changed([](auto& json) { json["version"] = "1"; }),
      changed([](auto& json) { json["format"] = "model"; }),
      changed([](auto& json) { json["rule"] = "sgd"; }),
      changed([](auto& json) { json["rule"] = 3; }),
      changed([](auto& json) { json["options"]["beta"] = 7; }),
      changed([](auto& json) { json["options"]["beta"] = true; }),
      changed([](auto& json) { json["options"]["update"] = "hour"; }),
      changed([](auto& json) { json["options"].erase("decay"); }),
      changed([](auto& json) { json["state"]["observations"] = -1; }),
      changed([](auto& json) { json["state"]["numbers"]["K"] = -1; }),
      changed([](auto& json) { json["state"]["numbers"]["K"] = nullptr; }),
      changed([](auto& json) { json["state"]["numbers"]["Q"] = 1; }),
      changed([](auto& json) { json["state"]["numbers"].erase("K"); }),
  };
  for (const std::string& text : damaged) {
    const std::string message = message_of([&] { rule->load(text); }, Fault::data);
    EXPECT_FALSE(message.empty()) << text;
    EXPECT_EQ(rule->save(), good);
  }
  EXPECT_NE(message_of([&] { rule->load(damaged[5]); }, Fault::data).find("version 2"), std::string::npos);
  message_of([&] { load_rule(changed([](auto& json) { json["rule"] = "lion"; })); }, Fault::data);
}

}  // namespace
}  // namespace lipschitzlr::rate

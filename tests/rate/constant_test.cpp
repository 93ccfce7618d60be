#include "lipschitzlr/rate/constant.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/rate/registry.hpp"

namespace lipschitzlr::rate {
namespace {

TEST(Constant, KeepsTheRateItWasGivenButForTheDecay) {
  const auto rule = make_rule("constant", {.rate = 0.25, .decay = 0.5});
  EXPECT_FALSE(rule->measures());
  EXPECT_TRUE(rule->has_rate());
  EXPECT_FALSE(rule->holds_first_rate());
  rule->observe({.gradient_bound = 100, .second_moment = 100, .penultimate_norm = 100});
  rule->observe({});  // nothing is needed, so nothing is missing
  rule->end_epoch();
  EXPECT_EQ(rule->rate(), 0.25);
  EXPECT_EQ(rule->rate_at(2), 0.125);
}

TEST(Constant, NeedsARateAndNoOtherForTheFirstEpoch) {
  EXPECT_THROW(make_rule("constant"), Error);
  EXPECT_THROW(make_rule("constant", {.rate = 0.1, .first_rate = 0.2}), Error);
}

TEST(Constant, IsSavedWithItsRate) {
  const std::string text = make_rule("constant", {.rate = 0.3})->save();
  EXPECT_EQ(load_rule(text)->rate(), 0.3);
  const auto other = make_rule("constant", {.rate = 1});
  other->load(text);
  EXPECT_EQ(other->rate(), 0.3);
}

TEST(Constant, ASavedStateWithoutItsRateIsRefused) {
  nlohmann::json json = nlohmann::json::parse(make_rule("constant", {.rate = 0.3})->save());
  json["options"].erase("rate");
  EXPECT_THROW(load_rule(json.dump()), Error);
  const auto rule = make_rule("constant", {.rate = 1});
  EXPECT_THROW(rule->load(json.dump()), Error);
  EXPECT_EQ(rule->rate(), 1);
  json["options"]["rate"] = -1;
  EXPECT_THROW(load_rule(json.dump()), Error);
}

}  // namespace
}  // namespace lipschitzlr::rate

#include "lipschitzlr/run/option.hpp"

#include <gtest/gtest.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/fit_options.hpp"
#include "lipschitzlr/run/rate_report.hpp"
#include "lipschitzlr/run/train_options.hpp"
#include "run/option_json.hpp"

namespace lipschitzlr::run {
namespace {

std::string refusal(const Option& option, const std::string& word) {
  try {
    assign(option, {word});
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

// A value that the option takes and does not have.
void change(const Option& option) {
  using Kind = Member::Kind;
  const OptionValue before = option.member.get();
  std::vector<std::string> words = option.member.names;
  for (const char* word : {"3", "0.25", "0.125", "beta1=0.25", "512M", "some-text", ";"}) words.emplace_back(word);
  if (option.member.kind == Kind::flag) {
    option.member.set(!std::get<bool>(before));
  } else {
    for (const std::string& word : words) {
      if (option.is(kSwitch) ? option.member.set(word) : refusal(option, word) == "accepted") {
        if (option.member.get() != before) return;
      }
    }
  }
  EXPECT_NE(option.member.get(), before) << option.name;
}

template <class T>
void walk(const std::function<Options(T&)>& options_of_object) {
  const std::size_t count = options_of_object(*std::make_unique<T>()).size();
  for (std::size_t i = 0; i < count; ++i) {
    T object, usual, read;
    const Options options = options_of_object(object), defaults = options_of_object(usual);
    const std::string name = options[i].name;
    EXPECT_FALSE(help_of(options[i]).empty()) << name;
    EXPECT_TRUE(differences(options, defaults).empty()) << name;
    change(options[i]);
    const std::vector<Difference> found = differences(options, defaults);
    ASSERT_FALSE(found.empty()) << name;
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const Difference& one) { return one.name == name; }));
    // Through JSON, as text, and back.
    const auto json = nlohmann::ordered_json::parse(to_json(options).dump());
    read_json(options_of_object(read), json, "file");
    EXPECT_TRUE(differences(options, options_of_object(read)).empty()) << name << "\n" << json.dump();
    // By the words of a command line, and back.
    EXPECT_FALSE(words_of(options, defaults).empty()) << name;
  }
}

TEST(OptionTables, EveryOptionHasHelpAndSurvivesJson) {
  walk<TrainOptions>([](TrainOptions& options) { return options_of(options); });
  walk<TrainRequest>([](TrainRequest& request) { return options_of(request); });
  walk<FitRequest>([](FitRequest& options) { return options_of(options); });
  walk<RateOptions>([](RateOptions& options) { return options_of(options); });
}

TEST(OptionTables, NamesAreUnique) {
  TrainRequest request;
  FitRequest fit;
  for (const Options& options : {options_of(request), options_of(fit)}) {
    std::set<std::string> names, flags;
    for (const Option& option : options) {
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
      EXPECT_TRUE(flags.insert(flag_of(option)).second) << flag_of(option);
    }
  }
}

TEST(OptionTables, TheNamesOfAChoiceAreThoseOfItsEnumeration) {
  FitRequest fit;
  const Options options = options_of(fit);
  fit.training.second_moment = rate::SecondMoment::coded;
  fit.training.recompute = linear::Recompute::batch;
  fit.data.scaling = data::Scaling::min_max;
  EXPECT_EQ(to_text(find_option(options, "second_moment").member.get()), "coded");
  EXPECT_EQ(to_text(find_option(options, "recompute").member.get()), "batch");
  EXPECT_EQ(to_text(find_option(options, "scale").member.get()), "minmax");
  assign(find_option(options, "solver"), {"auto-adam"});
  EXPECT_EQ(fit.solver, Solver::auto_adam);
  EXPECT_EQ(to_string(fit.solver), "auto-adam");
}

TEST(Option, ANumberOutOfRangeIsRefusedInASentence) {
  double number = 0;
  std::int64_t whole = 0;
  EXPECT_EQ(refusal({"l2", &number, "", at_least(0)}, "-1"), "--l2 -1: expected a number of 0 or more");
  EXPECT_EQ(refusal({"k_1", &number, "", above(0)}, "0"), "--k-1 0: expected a number above 0");
  EXPECT_EQ(refusal({"beta", &number, "", share()}, "1"), "--beta 1: expected a number from 0 to below 1");
  EXPECT_EQ(refusal({"loss", &number, ""}, "nan"), "--loss nan: expected a number");
  EXPECT_EQ(refusal({"n", &whole, "", between(1, 9), Flags{"-n,--count"}}, "10"),
            "--count 10: expected a whole number from 1 to 9");
  EXPECT_EQ(refusal({"n", &whole, "", at_least(1)}, "1.5"), "--n 1.5: expected a whole number of 1 or more");
  EXPECT_EQ(number, 0);
  EXPECT_EQ(whole, 0);
}

TEST(Option, WhatDoesNothingIsRefusedByName) {
  FitRequest request;
  const auto refusal_of = [&](const std::set<std::string>& given) -> std::string {
    try {
      check_uses(options_of(request), given);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "accepted";
  };
  request.solver = Solver::gd;
  EXPECT_EQ(refusal_of({"beta1"}), "--beta1 does nothing with --solver gd: leave it out, or take auto-adam");
  EXPECT_EQ(refusal_of({"epsilon"}),
            "--epsilon does nothing with --solver gd: leave it out, or take rmsprop or auto-adam");
  EXPECT_EQ(refusal_of({"solver", "decay", "fixed", "batch"}), "accepted");
  request.solver = Solver::lbfgs;
  for (const char* name : {"decay", "recompute", "first_rate", "fixed", "bias_correction", "second_moment"}) {
    EXPECT_NE(refusal_of({name}).find("does nothing with --solver lbfgs"), std::string::npos) << name;
  }
  request.solver = Solver::auto_adam;
  EXPECT_EQ(refusal_of({"beta1", "beta2", "k1", "k2", "epsilon", "second_moment"}), "accepted");
}

// A name that is none of the options, or values that the other option does not have, would make the check a trap.
TEST(OptionTables, WhatAnOptionDependsOnIsThere) {
  FitRequest request;
  const Options options = options_of(request);
  for (const Option& option : options) {
    for (const std::string& value : option.only_with.values) {
      const std::vector<std::string>& names = find_option(options, option.only_with.option).member.names;
      EXPECT_NE(std::find(names.begin(), names.end(), value), names.end()) << option.name << " " << value;
    }
  }
}

TEST(Option, ARecordOfAnOlderVersionLacksWhatWasAddedLater) {
  TrainOptions options;
  nlohmann::ordered_json json = to_json(options_of(options));
  json.erase("schedule");
  json["seed"] = 7;
  TrainOptions read;
  read_json(options_of(read), json, "config.json");
  EXPECT_EQ(read.seed, 7U);
  json.erase("seed");
  EXPECT_THROW(read_json(options_of(read), json, "config.json"), Error);
  json["seed"] = "seven";
  EXPECT_THROW(read_json(options_of(read), json, "config.json"), Error);
}

TEST(Option, OptionsAsTheWordsThatSetThem) {
  FitRequest options, usual;
  options.data.source = "iris";
  options.data.intercept = false;
  options.random_start = true;
  options.training.rate = 0.5;
  EXPECT_EQ(words_of(options_of(options), options_of(usual)),
            (std::vector<std::string>{"iris", "--no-intercept", "--rate", "0.5", "--random-start"}));
}

}  // namespace
}  // namespace lipschitzlr::run

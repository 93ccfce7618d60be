#include "app/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::app {
namespace {

using Formats = std::map<std::string, data::Format>;
using Recomputes = std::map<std::string, linear::Recompute>;

constexpr std::size_t kHelpColumn = 34;  // where main.cpp lets descriptions begin

template <class Number>
bool reads_as(const std::string& text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

// The parser's own checks answer with its types and with limits of 300 digits: these answer with a sentence.
template <class Accepts>
CLI::Option* expect(CLI::Option* option, const std::string& what, Accepts accepts) {
  const std::string name = option->get_name();
  return option->check(CLI::Validator(
      [=](const std::string& text) {
        if (!accepts(text)) throw Error(Fault::usage, fmt::format("{} {}: expected {}", name, text, what));
        return std::string();
      },
      ""));
}

std::string with_default(const std::string& text, double value) {
  return fmt::format("{}; default: {:g}", text, value);
}

}  // namespace

CLI::Option* expect_number(CLI::Option* option, const std::string& what, const std::function<bool(double)>& accepts) {
  return expect(option, what, [accepts](const std::string& text) {
    double number = 0;
    return reads_as(text, number) && std::isfinite(number) && accepts(number);
  });
}

CLI::Option* expect_positive(CLI::Option* option) {
  return expect_number(option, "a number above 0", [](double number) { return number > 0; });
}

CLI::Option* expect_not_negative(CLI::Option* option) {
  return expect_number(option, "a number of 0 or more", [](double number) { return number >= 0; });
}

CLI::Option* expect_share(CLI::Option* option) {
  return expect_number(option, "a number from 0 to below 1", [](double share) { return share >= 0 && share < 1; });
}

CLI::Option* expect_whole(CLI::Option* option, std::int64_t least, std::int64_t most) {
  const bool bounded = most < std::numeric_limits<std::int64_t>::max();
  const std::string what = bounded ? fmt::format("a whole number from {} to {}", least, most)
                                   : fmt::format("a whole number of {} or more", least);
  return expect(option, what, [least, most](const std::string& text) {
    std::int64_t number = 0;
    return reads_as(text, number) && number >= least && number <= most;
  });
}

std::string shown_cache_folder() {
  try {
    return data::catalogue::cache_folder();
  } catch (const Error&) {
    return "none (set HOME, XDG_CACHE_HOME or LIPSCHITZLR_DATA)";
  }
}

void fold_help(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    std::string text = wrap("", option->get_description(), kTextWidth - kHelpColumn);
    text.pop_back();
    option->description(text);
  }
}

void add_read_options(CLI::App& command, data::ReadOptions& read, const std::string& target_help) {
  const std::string group = "Reading";
  command.add_option("--target", read.target, "target column: its name or number, -1 being the last; " + target_help)
      ->type_name("COLUMN")
      ->group(group);
  command.add_option("--format", read.format, "csv, tsv or libsvm; told apart by looking when not given")
      ->transform(CLI::CheckedTransformer(
          Formats{{"csv", data::Format::csv}, {"tsv", data::Format::tsv}, {"libsvm", data::Format::libsvm}}))
      ->option_text("csv|tsv|libsvm")
      ->group(group);
  command
      .add_flag_callback(
          "--header", [&read] { read.header = true; }, "the first line names the columns (else detected)")
      ->group(group);
  command
      .add_flag_callback(
          "--no-header", [&read] { read.header = false; }, "the first line is a row")
      ->group(group);
}

void add_data_options(CLI::App& command, run::DataChoice& choice) {
  command.add_option("DATA", choice.source, kDataHelp)->required()->type_name("");
  add_read_options(command, choice.read, "default: the last");
  const std::string group = "Model";
  command
      .add_option("--model", choice.model,
                  "what to learn; default: auto, by the target: text makes classes, and so do 2 to 20 different whole "
                  "numbers on at least three times as many rows (two of them: on three rows); any other number makes "
                  "linear; two classes make logistic, more softmax")
      ->check(CLI::IsMember({"auto", "linear", "logistic", "softmax"}))
      ->option_text("auto|linear|logistic|softmax")
      ->group(group);
  command
      .add_option(
          "--scale", choice.scaling,
          "scaling of the columns, learnt on the training rows; sum is the paper's; default: auto, which is standard, "
          "or none for sparse tables")
      ->check(CLI::IsMember({"auto", "none", "sum", "standard", "minmax"}))
      ->option_text("auto|none|sum|standard|minmax")
      ->group(group);
  command
      .add_flag_callback(
          "--no-intercept", [&choice] { choice.intercept = false; }, "leave out the column of ones")
      ->group(group);
  expect_not_negative(command.add_option("--l2", choice.l2,
                                         "adds L2/2 ||w||^2 to the loss; w has the intercept in it, which is thus "
                                         "penalised too; default: 0"))
      ->type_name("L2")
      ->group(group);
  command
      .add_option(
          "--tikhonov", choice.tikhonov,
          "adds ||G w||^2; a number, or a file with G's diagonal or all of G (the last column is the intercept's)")
      ->type_name("G")
      ->group(group);
  expect_positive(command.add_option("--weight-bound", choice.weight_bound,
                                     "K of the formulas, a bound on ||w||; guessed from the data when not given"))
      ->type_name("K")
      ->group(group);
  expect_number(command.add_option("--holdout", choice.holdout,
                                   "share of the rows to set aside for testing, class by class; default: 0"),
                "a number from 0 to 0.99", [](double share) { return share >= 0 && share <= 0.99; })
      ->type_name("SHARE")
      ->group(group);
  expect_whole(command.add_option("--seed", choice.seed, "of the holdout, the shuffles and a random start; default: 1"),
               0)
      ->type_name("N")
      ->group(group);
  fold_help(command);
}

void add_training_options(CLI::App& command, run::TrainingChoice& choice) {
  linear::SolverOptions& options = choice.options;
  const std::string group = "Training";
  command.add_option("--solver", choice.solver, "default: accelerated; lbfgs is the reference, with no rate at all")
      ->check(CLI::IsMember({"accelerated", "gd", "sgd", "adamo", "rmsprop", "auto-adam", "lbfgs"}))
      ->option_text("accelerated|gd|sgd|adamo|rmsprop|auto-adam|lbfgs")
      ->group(group);
  command
      .add_option("--rate", choice.rate,
                  "a number, or the constant to compute it from: published, coded, certified, gradient; default: auto, "
                  "which is "
                  "gradient for accelerated and else the best of a trial")
      ->type_name("RATE")
      ->group(group);
  command
      .add_option("--recompute", options.recompute,
                  "measure the constant again every epoch or every batch; default: never")
      ->transform(CLI::CheckedTransformer(Recomputes{{"never", linear::Recompute::never},
                                                     {"epoch", linear::Recompute::epoch},
                                                     {"batch", linear::Recompute::batch}}))
      ->option_text("never|epoch|batch")
      ->group(group);
  expect_whole(command.add_option("--batch", options.batch, "rows per step; default: 0, all of them (sgd: 128)"), 0)
      ->type_name("ROWS")
      ->group(group);
  expect_positive(command.add_option("--first-rate", options.rule.first_rate, "rate of the first epoch (AdaMo's x)"))
      ->type_name("X")
      ->group(group);
  expect_not_negative(
      command.add_option("--decay", options.rule.decay, "divide the rate by 1 + DECAY t at step t; default: 0"))
      ->type_name("DECAY")
      ->group(group);
  command.add_flag("--bias-correction", options.rule.bias_correction, "correct averages for their start at zero")
      ->group(group);
  command.add_flag("--fixed", options.rule.fixed, "keep the first measured constant for ever")->group(group);
  expect_share(command.add_option("--beta", options.rule.beta,
                                  with_default("weight of the past (AdaMo, RMSprop)", options.rule.beta)))
      ->type_name("B")
      ->group(group);
  expect_share(command.add_option("--beta1", options.rule.beta1,
                                  with_default("weight of the past in K1 (Auto-Adam)", options.rule.beta1)))
      ->type_name("B")
      ->group(group);
  expect_share(command.add_option("--beta2", options.rule.beta2,
                                  with_default("weight of the past in K2 (Auto-Adam)", options.rule.beta2)))
      ->type_name("B")
      ->group(group);
  expect_not_negative(
      command.add_option("--epsilon", options.rule.epsilon,
                         with_default("added to square roots (RMSprop, Auto-Adam)", options.rule.epsilon)))
      ->type_name("E")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--second-moment",
          [&options](const std::string& name) { options.second_moment = rate::second_moment_from(name); },
          "estimate of S (RMSprop, Auto-Adam); default: without-weight-square")
      ->check(CLI::IsMember(rate::second_moment_names()))
      ->option_text("elementwise|full-square|without-weight-square|coded")
      ->group(group);
  command
      .add_flag("--coded-denominator", options.rule.coded_denominator,
                "divide by K_z alone, as the authors' code does, instead of G (RMSprop)")
      ->group(group);
  expect_positive(command.add_option("--k1", options.rule.initial_k1, "K1 at the start; the paper has 1 (Auto-Adam)"))
      ->type_name("K1")
      ->group(group);
  expect_positive(
      command.add_option("--k2", options.rule.initial_k2, "K2 at the start; the paper has 1e-6 (Auto-Adam)"))
      ->type_name("K2")
      ->group(group);
  command.add_flag("--hold-averages", options.rule.hold_averages, "never move K1 and K2 from there (Auto-Adam)")
      ->group(group);
  command.add_flag("--random-start", choice.random_start, "start at w ~ N(0, 1) instead of zero")->group(group);
  command.add_flag("--single", choice.single_precision, "compute in single precision")->group(group);

  const std::string stops = "Stopping, whichever comes first";
  expect_whole(command.add_option("--epochs", options.epochs,
                                  with_default("passes over the data", static_cast<double>(options.epochs))),
               0)
      ->type_name("N")
      ->group(stops);
  expect_not_negative(command.add_option("--seconds", options.seconds, "time; default: no limit"))
      ->type_name("S")
      ->group(stops);
  expect_number(command.add_option("--loss", options.loss_threshold, "stop when the loss is below; default: never"),
                "a number", [](double) { return true; })
      ->type_name("LOSS")
      ->group(stops);
  expect_not_negative(command.add_option("--gradient-tolerance", options.gradient_tolerance,
                                         "stop when the gradient's norm is at most this; default: 0"))
      ->type_name("G")
      ->group(stops);
  expect_not_negative(
      command.add_option("--tolerance", options.relative_tolerance,
                         with_default("stop when the loss changed by at most this share, five times in a row",
                                      options.relative_tolerance)))
      ->type_name("SHARE")
      ->group(stops);
  fold_help(command);
}

void add_json_option(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "print one JSON object instead of text");
}

void add_threads_option(CLI::App& command, unsigned& threads, Bits bits) {
  constexpr std::int64_t kMostThreads = 1024;
  const std::string help =
      bits == Bits::same ? "results have the same bits for any number" : "libtorch's last bits depend on it";
  expect_whole(command.add_option("--threads", threads, "default: 0, all cores; " + help), 0, kMostThreads)
      ->type_name("N");
}

}  // namespace lipschitzlr::app

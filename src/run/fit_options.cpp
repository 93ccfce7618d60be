#include "lipschitzlr/run/fit_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "run/shared_options.hpp"

namespace lipschitzlr::run {
namespace {

template <class Enum, std::size_t Count>
std::vector<std::string> names_of(const Enum (&values)[Count]) {
  std::vector<std::string> names;
  for (const Enum value : values) names.push_back(to_string(value));
  return names;
}

std::string separator_name(const std::optional<char>& separator) {
  if (!separator) return "";
  return *separator == '\t' ? "tab" : *separator == ' ' ? "space" : std::string(1, *separator);
}

std::optional<std::optional<char>> separator_from(const std::string& name) {
  if (name.empty()) return std::optional<char>();
  if (name == "tab" || name == "\\t") return '\t';
  if (name == "space") return ' ';
  // What a number or a quoted cell may hold parts nothing.
  const bool usable = name.size() == 1 && std::ispunct(static_cast<unsigned char>(name[0])) != 0 &&
                      std::string("\"+-.").find(name[0]) == std::string::npos;
  return usable ? std::optional<std::optional<char>>(name[0]) : std::nullopt;
}

// A number, the constant it is computed from, or auto.
Member rate_member(FitRequest& o) {
  Member member(
      Member::Kind::text,
      [&o]() -> OptionValue {
        if (o.training.rate) return *o.training.rate;
        return o.constant ? to_string(*o.constant) : "auto";
      },
      [&o](const OptionValue& value) {
        const std::string text = to_text(value);
        const std::optional<double> number = number_from(text);
        const std::optional<linear::ConstantKind> constant = bound::constant_kind_from(text);
        if (number ? !(*number > 0) : !constant && text != "auto") return false;
        o.training.rate = number;
        o.constant = constant;
        return true;
      });
  member.expected = "a number above 0, auto, published, coded, certified or gradient";
  return member;
}

// A number, or auto.
Member penalty_member(bool& choose, double& strength) {
  Member member(
      Member::Kind::text,
      [&]() -> OptionValue {
        if (choose) return "auto";
        return strength;
      },
      [&](const OptionValue& value) {
        const std::string text = to_text(value);
        const std::optional<double> number = number_from(text);
        if (number ? *number < 0 : text != "auto") return false;
        choose = !number;
        strength = number.value_or(0);
        return true;
      });
  member.expected = "a number of 0 or more, or auto";
  return member;
}

// Names or numbers of columns, as one word with commas.
Member columns_member(std::vector<std::string>& columns) {
  return spelled(
      columns, [](const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ",")); },
      [](const std::string& text) -> std::optional<std::vector<std::string>> {
        if (text.empty()) return std::vector<std::string>();
        std::vector<std::string> list = split(text, ',');
        for (const std::string& name : list) {
          if (name.empty()) return std::nullopt;
        }
        return list;
      },
      "names or numbers of columns with commas between");
}

Options column_options(DataOptions& o) {
  using data::Missing;
  return columns_to_read(o.read) +
         Options{
             {"categorical", columns_member(o.categorical),
              "columns of codes, such as postcodes: a category, although they look like numbers or ids",
              Placeholder{"COLUMNS"}, kAddedLater},
             {"max_levels", &o.encoding.max_levels, "levels of a category at most; the rarest above share one",
              Placeholder{"N"}, at_least(1), kAddedLater},
             {"missing", choice(o.encoding.missing, {"mean", "median", "drop", "error"}),
              "a gap (an empty cell, ?, NA, null, nan) in a number is filled with the mean or median of the column and "
              "marked "
              "by a feature of its own; drop: leave the row out; error: refuse it",
              kAddedLater},
         };
}

Options model_options(DataOptions& o) {
  using linear::Family, data::Scaling;
  return {
      {"model", choice(o.model, names_of({Family::linear, Family::logistic, Family::softmax}), "auto"),
       "what to learn; auto: by the target: text makes classes, and so do 2 to 10 different whole numbers on at least "
       "three times as many rows (two of them: on three rows); any other number makes linear; two classes make "
       "logistic, more softmax"},
      {"scale",
       choice(o.scaling, names_of({Scaling::none, Scaling::column_sum, Scaling::standard, Scaling::min_max}), "auto"),
       "scaling of the columns, learnt on the training rows; sum is the paper's; auto: standard, or none for sparse "
       "tables"},
      {"intercept", &o.intercept, "leave out the column of ones", Flags{"--no-intercept"}},
      {"weight", &o.weight, "column that says how much each row counts, 0 or more; it is no feature then",
       Placeholder{"COLUMN"}},
      {"class_weight", &o.class_weight,
       "how much the rows of each class count: balanced, or all classes as in A=2,B=1; losses and accuracies are "
       "weighted too",
       Placeholder{"WEIGHTS"}},
      {"weight_bound", &o.weight_bound, "K of the formulas, a bound on ||w||; default: estimated from the data",
       Placeholder{"K"}, above(0)},
      {"holdout", &o.holdout, "share of the rows to set aside for testing, class by class", Placeholder{"SHARE"},
       between(0, 0.99)},
      {"seed", &o.seed, "seed of the holdout, the folds, the shuffles and a random start", at_least(0)},
  };
}

Options penalty_options(DataOptions& o) {
  return {
      {"l2", &o.l2, "adds L2/2 ||w||^2 to the loss, w without the intercept", Placeholder{"L2"}, at_least(0)},
      {"penalize_intercept", &o.penalize_intercept, "--l2 covers the intercept too, as in the paper"},
      {"tikhonov", &o.tikhonov,
       "adds ||G w||^2; a number, or a file with G's diagonal or all of G (the last column is the intercept's); --l2 "
       "then covers the intercept too",
       Placeholder{"G"}},
  };
}

// The same with penalties that can be chosen.
Options penalty_options(FitRequest& o) {
  Options options = penalty_options(o.data);
  options[0] = {
      "l2", penalty_member(o.choose_l2, o.data.l2),
      options[0].help + "; auto: the value with the lowest loss in cross-validation, and 0 beside another penalty",
      Placeholder{"L2"}};
  return options + Options{{"l1", penalty_member(o.choose_l1, o.data.l1),
                            "adds L1 ||w||_1 to the loss, w without the intercept, which makes weights 0; auto: by "
                            "cross-validation",
                            Placeholder{"L1"}},
                           {"elastic_net", &o.elastic_net,
                            "adds LAMBDA (SHARE ||w||_1 + (1-SHARE)/2 ||w||^2) to the loss, w without the intercept; "
                            "SHARE is glmnet's alpha",
                            Placeholder{"SHARE"}, between(0, 1), kAddedLater},
                           {"lambda", &o.lambda,
                            "strength of --elastic-net; default: the value with the lowest loss in cross-validation",
                            Placeholder{"LAMBDA"}, at_least(0), kAddedLater},
                           {"folds", &o.folds, "folds of cross-validation; default: 5, and a large table has one split",
                            Placeholder{"N"}, between(2, 1000), kMayChange},
                           {"path", &o.path, "values that cross-validation tries; default: 30", Placeholder{"N"},
                            between(2, 1000), kMayChange}};
}

Options training_options(FitRequest& o) {
  using linear::Recompute;
  const OnlyWith steps{"solver", stepping_solvers()};
  return {
      {"solver", choice(o.solver, names_of(linear::kSolvers)),
       "auto: newton for least squares (direct) and without a penalty, lbfgs for classes, coordinate for L1; these "
       "three and fista, plain proximal steps of 1/beta, prove how near the optimum they are; the others take a "
       "computed rate"},
      {"rate", rate_member(o),
       "a number, or the constant to compute it from: published, coded, certified, gradient; auto: gradient for "
       "accelerated, else the best of a trial",
       Placeholder{"RATE"}},
      {"recompute", choice(o.training.recompute, names_of({Recompute::never, Recompute::epoch, Recompute::batch})),
       "measure the constant again every epoch or every batch", steps},
      {"batch", &o.training.batch, "rows per step; 0: all of them (sgd: 128)", Placeholder{"ROWS"}, at_least(0)},
      {"first_rate", &o.training.rule.first_rate, "rate of the first epoch (AdaMo's x)", above(0), steps},
      {"bias_correction", &o.training.rule.bias_correction, "correct averages for their start at zero",
       OnlyWith{"solver", {"adamo", "rmsprop", "auto-adam"}}},
      {"fixed", &o.training.rule.fixed, "keep the first measured constant for the whole run", steps},
      {"second_moment", choice(o.training.second_moment, rate::second_moment_names()),
       "estimate of S (RMSprop, Auto-Adam)", OnlyWith{"solver", {"rmsprop", "auto-adam"}}},
      {"coded_denominator", &o.training.rule.coded_denominator,
       "divide by K_z alone, as the authors' code does, instead of G (RMSprop)", OnlyWith{"solver", {"rmsprop"}}},
      {"start", choice(o.random_start, {"zero", "normal"}), "start at w ~ N(0, 1) instead of zero",
       Flags{"--random-start"}, kSwitch},
      {"precision", choice(o.single_precision, {"double", "single"}), "compute in single precision", Flags{"--single"},
       kSwitch},
  };
}

Options stopping_options(FitRequest& request) {
  linear::SolverOptions& o = request.training;
  const OnlyWith steps{"solver", stepping_solvers()};
  Options options = {
      {"epochs", &o.epochs, "passes over the data", at_least(0)},
      {"seconds", &o.seconds, "time; default: no limit", Placeholder{"S"}, at_least(0)},
      {"loss", &o.loss_threshold, "stop when the loss is below; default: never", Placeholder{"LOSS"}},
      {"gradient_tolerance", &o.gradient_tolerance, "stop when the gradient's norm is at most this", Placeholder{"G"},
       at_least(0)},
      {"tolerance", &request.tolerance,
       "newton, lbfgs, coordinate, fista: stop when the loss is proven to be within this share of its optimum, default "
       "1e-6, "
       "for least "
       "squares 1e-8; others: when it changed by at most this share, five times in a row, default 1e-8",
       Placeholder{"SHARE"}, at_least(0)},
      {"patience", &o.patience,
       "stop when the loss of training rows held out (--validation) has not fallen for so many epochs, and keep the "
       "weights with the lowest; 0: never",
       Placeholder{"EPOCHS"}, at_least(0), steps},
  };
  for (Option& option : options) option.traits |= kMayChange;
  return options +
         Options{{"validation", &request.validation,
                  "share of the training rows that --patience holds out, class by class, beside --holdout, "
                  "which it never looks at; default: 0.1",
                  Placeholder{"SHARE"}, Range{.least = 0, .most = 0.9, .with_least = false}, kAddedLater, steps}};
}

Options run_options(FitRequest& o) {
  Options options = {
      {"resume", &o.resume, "continue the unfinished training of this model file", Placeholder{"FILE"}},
      {"record", &o.record, "a new folder for config.json, metrics.jsonl, summary.json", Placeholder{"FOLDER"}},
      threads_option(o.threads),
      watch_option(o.watch),
  };
  for (Option& option : options) option.traits |= kMayChange;
  return options;
}

Options data_options(DataOptions& options, const Options& penalty) {
  return grouped({{"", {{"data", &options.source, kDataHelp, Flags{"DATA"}, kRequired}}},
                  {"Reading", options_of(options.read, "default: the last") + Options{memory_option(options.read)}},
                  {"Columns", column_options(options)},
                  {"Model", model_options(options)},
                  {"Penalty", penalty}});
}

}  // namespace

Options columns_to_read(data::ReadOptions& o) {
  return {
      {"ignore", columns_member(o.ignore), "columns to leave out, whatever stands in them", Placeholder{"COLUMNS"},
       kAddedLater},
      {"only", columns_member(o.only), "columns to learn from; default: all but the target", Placeholder{"COLUMNS"},
       kAddedLater},
  };
}

Option memory_option(data::ReadOptions& o) {
  constexpr std::uint64_t kLeast = 16 << 20;
  return {"memory",
          spelled(
              o.memory, [](const std::optional<std::uint64_t>& bytes) { return bytes ? format_size(*bytes) : ""; },
              [](const std::string& text) -> std::optional<std::optional<std::uint64_t>> {
                if (text.empty()) return std::optional<std::uint64_t>();
                const std::optional<std::uint64_t> bytes = size_from(text);
                if (!bytes || *bytes < kLeast) return std::nullopt;
                return bytes;
              },
              "a size of at least 16M, such as 512M or 4G"),
          "most to hold of a table: larger ones, packed or CSV, are read block by block; default: half of the machine",
          Placeholder{"SIZE"},
          kAddedLater,
          kMayChange};
}

Options options_of(data::ReadOptions& o, const std::string& target_help) {
  const Member header = choice(o.header, {"no", "yes"});
  // A resumed run may read its rows in another way: that they are the same is checked by their fingerprint.
  return {
      {"target", &o.target, "target column: its name or number, -1 being the last; " + target_help,
       Placeholder{"COLUMN"}},
      {"format", choice(o.format, {"auto", "csv", "tsv", "libsvm", "jsonl", "npy"}), "auto: detected", kMayChange},
      {"sep", spelled(o.separator, separator_name, separator_from, "one character, tab or space"),
       "what is between the cells of a CSV; default: detected", Placeholder{"CHARACTER"}, kMayChange},
      {"header", header, "the first line names the columns; default: detected", kSwitch, kMayChange},
      {"no_header", header, "the first line is a row", kSwitch, kMayChange},
  };
}

Options options_of(DataOptions& options) { return data_options(options, penalty_options(options)); }

Options options_of(FitRequest& options) {
  return data_options(options.data, penalty_options(options)) +
         grouped({{"Training", training_options(options)},
                  {"Rate rules", rule_options(options.training.rule, {.option = "solver",
                                                                      .decay = stepping_solvers(),
                                                                      .beta = {"adamo", "rmsprop"},
                                                                      .betas = {"auto-adam"},
                                                                      .epsilon = {"rmsprop", "auto-adam"},
                                                                      .start = {"auto-adam"}})},
                  {"Stopping, whichever comes first", stopping_options(options)},
                  {"", run_options(options)}});
}

}  // namespace lipschitzlr::run

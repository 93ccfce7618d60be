#include "lipschitzlr/run/train_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "run/shared_options.hpp"

namespace lipschitzlr::run {
namespace {

constexpr std::size_t kMostRates = 100;

std::string first_rate_text(const FirstRate& rate) {
  switch (rate.kind) {
    case FirstRate::Kind::none:
      return "none";
    case FirstRate::Kind::search:
      return "search";
    case FirstRate::Kind::number:
      return fmt::format("{}", rate.number);
    case FirstRate::Kind::usual:
      break;
  }
  return "";
}

std::optional<FirstRate> first_rate_from(const std::string& text) {
  for (const FirstRate::Kind kind : {FirstRate::Kind::usual, FirstRate::Kind::none, FirstRate::Kind::search}) {
    if (first_rate_text(FirstRate{kind}) == text) return FirstRate{kind};
  }
  const std::optional<double> number = number_from(text);
  if (!number || !(*number > 0)) return std::nullopt;
  return FirstRate{FirstRate::Kind::number, *number};
}

using Settings = std::map<std::string, double>;

std::string settings_text(const Settings& settings) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings) parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::optional<Settings> settings_from(const std::string& text) {
  Settings settings;
  if (text.empty()) return settings;
  for (const std::string& part : split(text, ',')) {
    const std::size_t sign = part.find('=');
    const std::optional<double> value = sign == std::string::npos ? std::nullopt : number_from(part.substr(sign + 1));
    if (!value || !settings.emplace(part.substr(0, sign), *value).second) return std::nullopt;
  }
  return settings;
}

using Rates = std::vector<double>;

std::string rates_text(const Rates& rates) { return fmt::format("{}", fmt::join(rates, ",")); }

std::optional<Rates> rates_from(const std::string& text) {
  Rates rates;
  if (text.empty()) return rates;
  for (const std::string& part : split(text, ',')) {
    const double rate = number_from(part).value_or(0);
    if (!(rate > 0) || std::find(rates.begin(), rates.end(), rate) != rates.end()) return std::nullopt;
    rates.push_back(rate);
  }
  return rates.size() <= kMostRates ? std::optional(rates) : std::nullopt;
}

// Auto-Adam's K2: a number, or the word search.
Option k2_option(TrainOptions& o, Option option) {
  option.member = Member(
      Member::Kind::text, [&o] { return o.search_k2 ? OptionValue("search") : detail::value_of(o.rule.initial_k2); },
      [&o](const OptionValue& value) {
        const auto* text = std::get_if<std::string>(&value);
        const auto* number = std::get_if<double>(&value);
        const std::optional<double> read = number != nullptr ? std::optional(*number)
                                           : text != nullptr ? number_from(*text)
                                                             : std::nullopt;
        const bool search = text != nullptr && *text == "search";
        if (!search && !(read && *read > 0)) return false;
        o.search_k2 = search;
        o.rule.initial_k2 = search ? std::nullopt : read;
        return true;
      });
  option.member.expected = "a number above 0 or search";
  option.help += "; search: the best of 1e-3, 1e-4, 1e-5, 1e-6 in short trials";
  option.placeholder = "K2";
  return option;
}

Options training_options(TrainOptions& o) {
  return {
      {"data", &o.data,
       "images: mnist, fashion-mnist, cifar10, cifar100, or a folder with one folder of PNG files per class (in train/ "
       "and test/, or directly); or a table: a CSV, TSV, JSON Lines, LIBSVM or NumPy file, or a name from `lipschitzlr "
       "data list`",
       Placeholder{"DATA"}},
      {"network", &o.network,
       "network: mnist-cnn, resnet20-v1 (N = 6n+2), resnet56-v2 (N = 9n+2), densenet-40-12, mlp-256-128, "
       "softmax; default: by the images, for a table mlp-64-64",
       Placeholder{"NAME"}, Flags{"--model"}},
      {"optimizer", &o.optimizer, "one of the list below; default: auto, with --protocol coded adamo",
       Placeholder{"NAME"}},
      {"settings",
       spelled(o.settings, settings_text, settings_from,
               "names, each once, with numbers, such as beta1=0.8,epsilon=1e-6"),
       "settings of the optimizer, such as delay=5,beta1=0.8; see the list below", Placeholder{"NAME=NUMBER,..."},
       Flags{"--set"}, kAddedLater},
      {"policy", choice(o.policy, {"adaptive", "fixed", "baseline", "grid"}),
       "adaptive: the rate is recomputed; fixed: computed once; baseline: a constant one (--rate); grid: baseline "
       "with the best rate of short trials; default: adaptive, baseline for optimizers with steps of their own"},
      {"protocol", choice(o.protocol, {"published", "coded"}),
       "published: the paper's text; coded: what its authors ran, with the test set as validation set"},
      {"epochs", &o.epochs,
       "passes over the images or rows; with --resume, the new total: auto's rate then falls from where it was frozen "
       "to 0 at the new end; default: 20, for a table 20 to 200 by its rows",
       at_least(1), kMayChange},
      {"batch", &o.batch,
       "images or rows per step, of all processes; default: 256 grey, 128 coloured images, 32 rows, of more than "
       "10000 128",
       at_least(2)},
      {"drop_last", &o.drop_last, "leave out the batch at the end of an epoch that is smaller than the others",
       kAddedLater},
      {"validation", &o.validation,
       "share of the training images or rows set aside; 0: validate on the test images, or on the rows of --holdout; "
       "default: 0.1, coded 0",
       share()},
      {"limit", &o.limit, "train on so many images or rows only, spread evenly over the set", at_least(1)},
      {"augment", choice(o.augment, {"none", "auto"}),
       "auto: random shifts and flips, of grey images shifts, zoom and rotation"},
      {"loss", choice(o.loss, {"cross-entropy", "clipped"}),
       "clipped: Keras's cross-entropy, of probabilities within [1e-7, 1 - 1e-7] and without a gradient beyond; "
       "default: "
       "cross-entropy, coded clipped",
       kAddedLater},
      {"precision", choice(o.double_precision, {"single", "double"}),
       "float32, or float64: half as fast, for exact comparisons", kAddedLater},
      {"check", &o.check,
       "measure every step what the paper assumes: which layer has the largest gradient, how far a step goes, whether "
       "the constant holds; the results stay the same, a step takes longer",
       kAddedLater},
      {"seed", &o.seed, "seed of initial weights, order, augmentation and dropout", at_least(0)},
  };
}

// As `fit` has them. All of them decide what is trained on, so that a resumed run can't change one.
Options table_options(TrainOptions& o) {
  const Options of_fit = options_of(o.table);
  Options options = {
      {"task", choice(o.table.model, {"linear", "logistic", "softmax"}, "auto"),
       "what is predicted, as `fit --model` has it: linear: a number, by half the squared error; logistic: one of two "
       "classes, by one output; softmax: classes, by an output each; auto: by the target"}};
  for (const char* name : {"target", "format", "sep", "header", "no_header", "ignore", "only", "categorical",
                           "max_levels", "missing", "scale", "holdout"}) {
    options.push_back(find_option(of_fit, name));
  }
  for (Option& option : options) option.traits = (option.traits | kAddedLater) & ~unsigned{kMayChange};
  options.push_back(memory_option(o.table.read));
  return options;
}

// The optimizers whose steps, or whose rates, are made with these numbers.
RuleUsers rule_users() {
  return {.option = "optimizer",
          .decay = {},
          .beta = {"adamo", "rmsprop", "momentum"},
          .betas = {"auto-adam", "adam", "adamw"},
          .epsilon = {"rmsprop", "auto-adam", "adam", "adamw"},
          .start = {"auto-adam"}};
}

Options computed_rate_options(TrainOptions& o) {
  return {
      {"first_rate", spelled(o.first_rate, first_rate_text, first_rate_from, "a number above 0, search or none"),
       "rate of the first epoch (AdaMo's x); search: the best of 0.1, 0.5, 1 in short trials; none; default: 0.1 "
       "for AdaMo, else none",
       Placeholder{"RATE"}},
      {"l2", &o.l2, "lambda of lambda/2 |w|^2; coded: in the constant only, default the decay", at_least(0)},
      {"constant", &o.constant, "take this for G, the loss's Lipschitz constant, whatever is measured", above(0)},
      {"constant_kind", choice(o.constant_kind, {"published", "coded", "certified", "tight"}),
       "which constant G is; certified: never exceeded by the gradient of the last layer; tight: nor is this, from the "
       "batch's own errors; default: by protocol",
       kAddedLater},
      {"update", choice(o.rule.update, {"epoch", "iteration"}), "recompute the rate every epoch or every iteration"},
      {"measure", choice(o.measure, {"in-step", "pass"}),
       "in-step: K_z from the training steps; pass: by a pass over the images before each epoch; default: by "
       "protocol"},
      {"second_moment", choice(o.second_moment, rate::second_moment_names()), "estimate of S; default: by protocol",
       OnlyWith{"optimizer", rule_users().epsilon}},
      {"bias_correction", choice(o.bias_correction, {"no", "yes"}),
       "correct averages for their start at zero; default: published yes, coded no",
       OnlyWith{"optimizer", {"adamo", "rmsprop", "auto-adam", "adam", "adamw"}}},
  };
}

Options baseline_options(TrainOptions& o) {
  return {
      {"rate", &o.rate, "default: by the optimizer, see the list below", above(0)},
      {"schedule", choice(o.schedule, rate::schedule_names()),
       "what the rate is multiplied by, step by step: constant: 1; cosine, linear: from 1 to 0; step: 1, 0.1 after "
       "half of the steps, 0.01 after three quarters",
       kAddedLater},
      {"schedule_epochs", &o.schedule_epochs, "how long the schedule lasts; default: all epochs", at_least(1),
       kAddedLater},
      {"warmup", &o.warmup, "let the rate rise over this share of the schedule's steps first, such as 0.02", share(),
       kAddedLater},
      {"grid",
       spelled(o.grid, rates_text, rates_from,
               fmt::format("at most {} numbers above 0 with commas between them, none of them twice", kMostRates)),
       "the rates that the policy grid tries; default: 0.0001, 0.0003, 0.001, ... 1", Placeholder{"RATE,..."},
       kAddedLater},
      {"grid_epochs", &o.grid_epochs, "epochs of each trial; default: 3", at_least(1), kAddedLater},
      {"grid_images", &o.grid_images, "images of each trial; up to 1000 other training images judge it; default: 5120",
       at_least(2), kAddedLater},
  };
}

Options network_options(TrainOptions& o) {
  return {
      {"dense_start", choice(o.dense_start, {"he-normal", "glorot"}),
       "how dense layers begin: he-normal, or Keras's default; default: he-normal, coded glorot but for ResNets",
       kAddedLater},
      {"padding", choice(o.architecture.padding, {"tensorflow", "symmetric"}),
       "padding of 3x3 convolutions with stride 2"},
      {"bn_epsilon", &o.architecture.batch_norm_epsilon, "batch norm's epsilon; default: 1e-3, DenseNet 1.1e-5",
       above(0), Flags{"--bn-eps"}},
      {"bn_momentum", &o.architecture.batch_norm_momentum, "batch norm's weight of the past; default: 0.99", share()},
  };
}

}  // namespace

std::vector<std::string> table_option_names() {
  TrainOptions any;
  std::vector<std::string> names;
  for (const Option& option : table_options(any)) names.push_back(option.name);
  return names;
}

Options options_of(TrainOptions& options) {
  Options rule = rule_options(options.rule, rule_users());
  for (Option& option : rule) {
    if (option.name == "k2") option = k2_option(options, option);
  }
  return grouped({{"Training", training_options(options)},
                  {"Computed rates (policies adaptive and fixed)", computed_rate_options(options)},
                  {"Rate rules", rule},
                  {"Rates set by hand (policies baseline and grid)", baseline_options(options)},
                  {"Network", network_options(options)},
                  {"Tables", table_options(options)},
                  {"", {threads_option(options.threads, Bits::differ)}}});
}

Options options_of(TrainRequest& r) {
  return options_of(r.options) +
         Options{{"output", &r.folder, "folder of the run; default: a new one under runs/", Placeholder{"FOLDER"},
                  Flags{"-o,--output"}},
                 {"resume", &r.resume, "continue the run in this folder, bit for bit, with its options",
                  Placeholder{"FOLDER"}, kMayChange},
                 {"weights", &r.weights, "start from these (safetensors, or Keras .h5)", Placeholder{"FILE"}},
                 {"log_steps", &r.log_steps, "record every so many steps, 0: epochs only; default: 50", at_least(0),
                  kMayChange},
                 {"checkpoint_minutes", &r.checkpoint_minutes,
                  "save a checkpoint every so many minutes, and after each epoch; default: 5", above(0), kMayChange},
                 watch_option(r.watch)};
}

}  // namespace lipschitzlr::run

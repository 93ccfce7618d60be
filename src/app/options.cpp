#include "app/options.hpp"

#include <map>

namespace lipschitzlr::app {
namespace {

using Formats = std::map<std::string, data::Format>;
using Recomputes = std::map<std::string, linear::Recompute>;

CLI::Option* number_above_zero(CLI::Option* option) { return option->check(CLI::PositiveNumber); }

}  // namespace

void add_read_options(CLI::App& command, data::ReadOptions& read) {
  const std::string group = "Reading";
  command.add_option("--target", read.target, "target column: its name or number, -1 being the last (the default)")
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
  add_read_options(command, choice.read);
  const std::string group = "Model";
  command.add_option("--model", choice.model, "what to learn; auto decides by the target")
      ->check(CLI::IsMember({"auto", "linear", "logistic", "softmax"}))
      ->capture_default_str()
      ->option_text("auto|linear|logistic|softmax")
      ->group(group);
  command
      .add_option(
          "--scale", choice.scaling,
          "scaling of the columns, learnt on the training rows; sum is the paper's; auto: standard, or none for "
          "sparse tables")
      ->check(CLI::IsMember({"auto", "none", "sum", "standard", "minmax"}))
      ->option_text("auto|none|sum|standard|minmax")
      ->group(group);
  command.add_flag("!--no-intercept", choice.intercept, "leave out the column of ones")->group(group);
  command.add_option("--l2", choice.l2, "adds L2/2 ||w||^2 to the loss")
      ->check(CLI::NonNegativeNumber)
      ->type_name("L2")
      ->group(group);
  command
      .add_option(
          "--tikhonov", choice.tikhonov,
          "adds ||G w||^2; a number, or a file with G's diagonal or all of G (the last column is the intercept's)")
      ->type_name("G")
      ->group(group);
  number_above_zero(command.add_option("--weight-bound", choice.weight_bound,
                                       "K of the formulas, a bound on ||w||; guessed from the data when not given"))
      ->type_name("K")
      ->group(group);
  command.add_option("--holdout", choice.holdout, "share of the rows to set aside for testing, class by class")
      ->check(CLI::Range(0.0, 0.99))
      ->type_name("SHARE")
      ->group(group);
  command.add_option("--seed", choice.seed, "of the holdout, the shuffles and a random start")
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
}

void add_training_options(CLI::App& command, run::TrainingChoice& choice) {
  linear::SolverOptions& options = choice.options;
  const std::string group = "Training";
  command.add_option("--solver", choice.solver, "lbfgs is the reference, with no rate at all")
      ->check(CLI::IsMember({"accelerated", "gd", "sgd", "adamo", "rmsprop", "auto-adam", "lbfgs"}))
      ->option_text("accelerated|gd|sgd|adamo|rmsprop|auto-adam|lbfgs")
      ->group(group);
  command
      .add_option("--rate", choice.rate,
                  "a number, or the constant to compute it from: published, coded, certified, gradient; auto: by trial")
      ->type_name("RATE")
      ->group(group);
  command.add_option("--recompute", options.recompute, "measure the constant again every epoch or every batch")
      ->transform(CLI::CheckedTransformer(Recomputes{{"never", linear::Recompute::never},
                                                     {"epoch", linear::Recompute::epoch},
                                                     {"batch", linear::Recompute::batch}}))
      ->option_text("never|epoch|batch")
      ->group(group);
  command.add_option("--batch", options.batch, "rows per step; 0: all (sgd: 128)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("ROWS")
      ->group(group);
  number_above_zero(command.add_option("--first-rate", options.rule.first_rate, "rate of the first epoch (AdaMo's x)"))
      ->type_name("X")
      ->group(group);
  command.add_option("--decay", options.rule.decay, "divide the rate by 1 + DECAY t at step t")
      ->check(CLI::NonNegativeNumber)
      ->type_name("DECAY")
      ->group(group);
  command.add_flag("--bias-correction", options.rule.bias_correction, "correct averages for their start at zero")
      ->group(group);
  command.add_flag("--fixed", options.rule.fixed, "keep the first measured constant for ever")->group(group);
  command.add_option("--beta", options.rule.beta, "weight of the past (AdaMo, RMSprop)")
      ->capture_default_str()
      ->group(group);
  command.add_option("--beta1", options.rule.beta1, "weight of the past in K1 (Auto-Adam)")
      ->capture_default_str()
      ->group(group);
  command.add_option("--beta2", options.rule.beta2, "weight of the past in K2 (Auto-Adam)")
      ->capture_default_str()
      ->group(group);
  command.add_option("--epsilon", options.rule.epsilon, "added to square roots (RMSprop, Auto-Adam)")
      ->capture_default_str()
      ->group(group);
  command
      .add_option_function<std::string>(
          "--second-moment",
          [&options](const std::string& name) { options.second_moment = rate::second_moment_from(name); },
          "estimate of S (RMSprop, Auto-Adam)")
      ->check(CLI::IsMember(rate::second_moment_names()))
      ->option_text("elementwise|full-square|without-weight-square|coded")
      ->group(group);
  command.add_flag("--random-start", choice.random_start, "start at w ~ N(0, 1) instead of zero")->group(group);
  command.add_flag("--single", choice.single_precision, "compute in single precision")->group(group);

  const std::string stops = "Stopping, whichever comes first";
  command.add_option("--epochs", options.epochs, "passes over the data")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("N")
      ->group(stops);
  command.add_option("--seconds", options.seconds, "time")->check(CLI::NonNegativeNumber)->type_name("S")->group(stops);
  command.add_option("--loss", options.loss_threshold, "stop when the loss is below")->type_name("LOSS")->group(stops);
  command
      .add_option("--gradient-tolerance", options.gradient_tolerance, "stop when the gradient's norm is at most this")
      ->check(CLI::NonNegativeNumber)
      ->type_name("G")
      ->group(stops);
  command
      .add_option("--tolerance", options.relative_tolerance,
                  "stop when the loss changed by at most this share, five times in a row")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->type_name("SHARE")
      ->group(stops);
}

void add_json_option(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "print one JSON object instead of text");
}

void add_threads_option(CLI::App& command, unsigned& threads) {
  command.add_option("--threads", threads, "0: all cores; results have the same bits for any number")
      ->check(CLI::Range(0u, 1024u))
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace lipschitzlr::app

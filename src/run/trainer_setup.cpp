#include "lipschitzlr/run/trainer_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/network_table.hpp"

namespace lipschitzlr::run {
namespace {

void expect(bool good, const std::string& sentence) {
  if (!good) throw Error(Fault::usage, sentence);
}

constexpr const char* kAutomatic = "auto";

bool is_coded(const TrainOptions& options) { return options.protocol == Protocol::coded; }

void check_rates(const TrainOptions& options) {
  const bool computed = options.computes_rates();
  const FirstRate::Kind first = options.first_rate.kind;
  expect(!computed || !options.rate, "--rate goes with --policy baseline only: the other policies compute it");
  expect(computed || first == FirstRate::Kind::usual || first == FirstRate::Kind::none,
         "--first-rate goes with computed rates; for --policy baseline there is --rate");
  expect(!computed || options.schedule == rate::Schedule::constant,
         "--schedule goes with --policy baseline or grid only: the other policies compute the rate");
  expect(!computed || options.warmup == 0,
         "--warmup goes with --policy baseline or grid only: the other policies compute the rate");
  const bool given_k2 = options.rule.initial_k2 || options.search_k2;
  expect(!options.rule.hold_averages || (options.rule.initial_k1 && given_k2), "--hold-averages needs --k1 and --k2");
  expect(options.optimizer == "auto-adam" || (!options.rule.initial_k1 && !given_k2 && !options.rule.hold_averages),
         fmt::format("--k1, --k2 and --hold-averages belong to auto-adam, not to {}", options.optimizer));
}

Policy usual_policy(const nn::OptimizerInfo& optimizer) {
  return optimizer.computed_rate ? Policy::adaptive : Policy::baseline;
}

// A rate that has reached 0 changes nothing any more, so there can't be more epochs than were planned.
void complete_schedule(TrainOptions& options) {
  if (options.schedule == rate::Schedule::constant && options.warmup == 0) {
    expect(!options.schedule_epochs, "--schedule-epochs goes with --warmup and with --schedule cosine, linear or step");
    return;
  }
  if (!options.schedule_epochs) options.schedule_epochs = options.epochs;
  const bool to_zero = options.schedule == rate::Schedule::cosine || options.schedule == rate::Schedule::linear;
  expect(!to_zero || *options.epochs <= *options.schedule_epochs,
         fmt::format("--epochs {}: the {} schedule brings the rate to 0 in {} epochs; plan for more from the start, "
                     "with --schedule-epochs",
                     *options.epochs, rate::to_string(options.schedule), *options.schedule_epochs));
}

void complete_grid(TrainOptions& options) {
  if (options.policy != Policy::grid) {
    expect(options.grid.empty() && !options.grid_epochs && !options.grid_images,
           "--grid, --grid-epochs and --grid-images go with --policy grid");
    return;
  }
  if (!options.grid_epochs) options.grid_epochs = 3;
  if (!options.grid_images) options.grid_images = 5120;
}

// What auto would do nothing with.
void check_auto(const TrainOptions& given) {
  static const std::set<std::string> others = {"protocol",
                                               "first_rate",
                                               "constant",
                                               "constant_kind",
                                               "update",
                                               "measure",
                                               "second_moment",
                                               "bias_correction",
                                               "decay",
                                               "beta",
                                               "beta1",
                                               "beta2",
                                               "epsilon",
                                               "k1",
                                               "k2",
                                               "rate",
                                               "schedule",
                                               "warmup",
                                               "hold_averages",
                                               "grid",
                                               "schedule_epochs",
                                               "grid_epochs",
                                               "grid_images"};
  TrainOptions options = given, usual;
  expect(options.policy == Policy::adaptive,
         "auto computes its rate by itself; for another --policy name an --optimizer, such as adam");
  for (const Difference& other : differences(options_of(options), options_of(usual))) {
    expect(!others.contains(other.name),
           fmt::format("{} does nothing with --optimizer auto, which has nothing to set; leave it out or name another "
                       "optimizer, such as adamo",
                       flag_of(find_option(options_of(options), other.name))));
  }
}

FirstRate usual_first_rate(const TrainOptions& options) {
  const bool adamo = options.optimizer == "adamo" && options.computes_rates();
  return adamo ? FirstRate{FirstRate::Kind::number, 0.1} : FirstRate{FirstRate::Kind::none};
}

nn::Policy trainer_policy(const TrainOptions& options) {
  if (!options.computes_rates()) return nn::Policy::baseline;
  return options.policy == Policy::fixed ? nn::Policy::fixed : nn::Policy::adaptive;
}

// The paper's, for grey images (MNIST) and for coloured ones (CIFAR).
data::Augmentation usual_augmentation(const DataShape& images) {
  if (images.channels == 1) return {.shift = 0.1, .zoom = 0.1, .rotation = 15, .flip = false};
  return {.shift = 0.1, .zoom = 0, .rotation = 0, .flip = true};
}

void complete_for_images(TrainOptions& options, const DataShape& images) {
  const bool grey = images.channels == 1;
  if (options.network.empty()) options.network = grey && images.height >= 12 ? "mnist-cnn" : "resnet20-v1";
  if (!options.batch) options.batch = grey ? 256 : 128;
  if (!options.epochs) options.epochs = 20;
}

// Small tables have small batches and many epochs, so that there are steps enough.
void complete_for_rows(TrainOptions& options, const DataShape& table) {
  constexpr Index kSteps = 6000, kLeastEpochs = 20, kMostEpochs = 200;
  if (options.network.empty()) options.network = "mlp-64-64";
  if (!options.batch) options.batch = table.rows < 10000 ? 32 : 128;
  if (!options.epochs) {
    const Index steps_per_epoch = (table.rows + *options.batch - 1) / *options.batch;
    options.epochs = std::clamp((kSteps + steps_per_epoch - 1) / steps_per_epoch, kLeastEpochs, kMostEpochs);
  }
}

// By the target, unless it has classes with an output each.
std::optional<nn::TrainingLoss> loss_of(const DataShape& data) {
  if (data.family == linear::Family::linear) return nn::TrainingLoss::squared_error;
  if (data.family == linear::Family::logistic) return nn::TrainingLoss::binary_cross_entropy;
  return {};
}

// Options of images with a table, and the reverse.
void check_kind_of_data(TrainOptions given) {
  TrainOptions usual;
  const bool table = names_table(given.data);
  const std::vector<std::string> of_tables = table_option_names();
  const Options options = options_of(given);
  expect(!table || given.protocol == Protocol::published,
         fmt::format("--protocol coded is what the authors ran, on images only; {} is a table", given.data));
  expect(!table || given.data != "-",
         "--data -: a network is trained, resumed and measured with its rows; write them "
         "to a file first");
  for (const Difference& other : differences(options, options_of(usual))) {
    const bool listed = std::find(of_tables.begin(), of_tables.end(), other.name) != of_tables.end();
    const bool of_images = std::set<std::string>{"augment", "padding", "loss", "check"}.contains(other.name);
    if (table ? !of_images : !listed) continue;
    throw Error(Fault::usage,
                fmt::format("{} is for {}, and {} is {}: leave it out", flag_of(find_option(options, other.name)),
                            table ? "images" : "tables", given.data, table ? "a table" : "a set of images"));
  }
}

// Fills in the usual one where none is named.
nn::OptimizerInfo choose_optimizer(TrainOptions& options) {
  if (options.optimizer.empty()) options.optimizer = is_coded(options) ? "adamo" : kAutomatic;
  return nn::optimizer_info(options.optimizer);
}

}  // namespace

void check_used(const TrainOptions& given_options) {
  TrainOptions options = given_options, usual;
  const nn::OptimizerInfo optimizer = choose_optimizer(options);
  std::set<std::string> changed;
  for (const Difference& other : differences(options_of(options), options_of(usual))) changed.insert(other.name);
  check_uses(options_of(options), changed);
  check_kind_of_data(options);
  const Policy policy = options.policy.value_or(usual_policy(optimizer));
  if (policy == Policy::adaptive || policy == Policy::fixed) return;
  const rate::RuleOptions& rule = options.rule;
  const std::pair<const char*, bool> given[] = {{"constant", options.constant.has_value()},
                                                {"update", rule.update != rate::Update::per_epoch},
                                                {"constant_kind", options.constant_kind.has_value()},
                                                {"measure", options.measure.has_value()},
                                                {"second_moment", options.second_moment.has_value()},
                                                {"k1", rule.initial_k1.has_value()},
                                                {"k2", rule.initial_k2.has_value() || options.search_k2},
                                                {"hold_averages", rule.hold_averages}};
  options.policy = policy;
  const Options table = options_of(options);
  for (const auto& [name, is_given] : given) {
    expect(!is_given,
           fmt::format("{} does nothing with --policy {}, whose rates are set by hand: leave it out, or take "
                       "adaptive or fixed",
                       flag_of(find_option(table, name)), to_text(find_option(table, "policy").member.get())));
  }
}

TrainOptions completed(TrainOptions options, const DataShape& data) {
  const nn::OptimizerInfo optimizer = choose_optimizer(options);
  const bool coded = is_coded(options);
  check(options_of(options));
  completed_settings(optimizer, options.settings);
  if (!options.policy) options.policy = usual_policy(optimizer);
  check_rates(options);
  data.family ? complete_for_rows(options, data) : complete_for_images(options, data);
  complete_schedule(options);
  complete_grid(options);
  if (!options.l2) options.l2 = coded ? options.rule.decay : 0;
  if (!options.validation) options.validation = coded ? 0 : 0.1;
  if (!options.loss && !loss_of(data)) {
    options.loss = coded ? nn::TrainingLoss::clipped_cross_entropy : nn::TrainingLoss::cross_entropy;
  }
  if (!options.dense_start) {
    const bool glorot = coded && !options.network.starts_with("resnet");
    options.dense_start = glorot ? nn::DenseStart::glorot : nn::DenseStart::he_normal;
  }
  if (options.optimizer == kAutomatic) {
    check_auto(options);
    return options;
  }
  if (options.first_rate.kind == FirstRate::Kind::usual) options.first_rate = usual_first_rate(options);
  expect(!options.constant || !options.constant_kind,
         "--constant is a number for G and --constant-kind a formula for it; leave one out");
  const bool tight = options.constant_kind == NetworkConstant::tight;
  if (!options.measure) options.measure = coded && !tight ? nn::Measure::pass : nn::Measure::in_step;
  expect(!tight || options.measure == nn::Measure::in_step,
         "--constant-kind tight is known after a training step only: it goes with --measure in-step");
  expect(options.measure != nn::Measure::pass || options.rule.update == rate::Update::per_epoch,
         "--measure pass goes with --update epoch only");
  if (!options.second_moment) {
    options.second_moment = coded ? rate::SecondMoment::coded : rate::SecondMoment::without_weight_square;
  }
  if (!options.bias_correction) options.bias_correction = !coded;
  if (options.search_k2 && !options.rule.initial_k1) options.rule.initial_k1 = 1;  // the paper's
  options.rule.bias_correction = *options.bias_correction && !options.rule.hold_averages;
  options.rule.coded_denominator = coded;
  return options;
}

nn::TrainerOptions trainer_options(const TrainOptions& options, const DataShape& data) {
  const bool coded = is_coded(options);
  nn::TrainerOptions trainer;
  trainer.network = options.network;
  trainer.network_options = options.architecture;
  trainer.network_options.dense_start = *options.dense_start;
  const std::optional<nn::TrainingLoss> loss = loss_of(data);
  trainer.loss = loss ? *loss : *options.loss;
  trainer.optimizer = options.optimizer;
  trainer.settings = options.settings;
  trainer.policy = trainer_policy(options);
  trainer.baseline_rate = options.rate.value_or(0);
  trainer.schedule_epochs = options.optimizer == kAutomatic ? *options.epochs : options.schedule_epochs.value_or(0);
  trainer.warmup = options.warmup;
  trainer.controller.schedule = options.schedule;
  trainer.controller.rule_options = options.rule;
  if (options.first_rate.kind == FirstRate::Kind::number) {
    trainer.controller.rule_options.first_rate = options.first_rate.number;
  }
  trainer.controller.variant = coded ? bound::ConstantKind::coded : bound::ConstantKind::published;
  if (const auto kind = options.constant_kind) {
    trainer.controller.tight = *kind == NetworkConstant::tight;
    trainer.controller.variant = *kind == NetworkConstant::published ? bound::ConstantKind::published
                                 : *kind == NetworkConstant::coded   ? bound::ConstantKind::coded
                                                                     : bound::ConstantKind::certified;
  }
  if (options.second_moment) trainer.controller.second_moment = *options.second_moment;
  trainer.controller.l2 = *options.l2;
  trainer.controller.gradient_bound = options.constant;
  // Keras's Adam corrects its averages; the authors' K1 and K2 are not corrected.
  trainer.correct_averages = options.bias_correction.value_or(false) || (coded && options.optimizer == "auto-adam");
  trainer.buffers_in_weight_norm = coded;
  trainer.measure = options.measure.value_or(nn::Measure::in_step);
  // Keras's l2(1e-4) adds 1e-4 ||w||^2 to the loss.
  trainer.weight_decay = coded ? 2e-4 : *options.l2;
  trainer.decay_some_only = coded;
  trainer.batch = *options.batch;
  trainer.drop_last = options.drop_last;
  trainer.check = options.check;
  trainer.double_precision = options.double_precision;
  if (options.augment && !data.family) trainer.augmentation = usual_augmentation(data);
  trainer.subtract_mean = data.channels > 1;
  trainer.seed = options.seed;
  trainer.threads = options.threads;
  return trainer;
}

}  // namespace lipschitzlr::run

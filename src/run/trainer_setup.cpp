#include "lipschitzlr/run/trainer_setup.hpp"

#include <fmt/format.h>

#include <set>

#include "lipschitzlr/base/error.hpp"

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
  expect(!options.rule.hold_averages || (options.rule.initial_k1 && options.rule.initial_k2),
         "--hold-averages needs --k1 and --k2");
  expect(options.optimizer == "auto-adam" ||
             (!options.rule.initial_k1 && !options.rule.initial_k2 && !options.rule.hold_averages),
         fmt::format("--k1, --k2 and --hold-averages are of auto-adam, not of {}", options.optimizer));
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
  expect(!to_zero || options.epochs <= *options.schedule_epochs,
         fmt::format("--epochs {}: the {} schedule brings the rate to 0 in {} epochs; plan for more from the start, "
                     "with --schedule-epochs",
                     options.epochs, rate::to_string(options.schedule), *options.schedule_epochs));
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
data::Augmentation usual_augmentation(const data::ImageSet& images) {
  if (images.channels == 1) return {.shift = 0.1, .zoom = 0.1, .rotation = 15, .flip = false};
  return {.shift = 0.1, .zoom = 0, .rotation = 0, .flip = true};
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
  const Policy policy = options.policy.value_or(usual_policy(optimizer));
  if (policy == Policy::adaptive || policy == Policy::fixed) return;
  const rate::RuleOptions& rule = options.rule;
  const std::pair<const char*, bool> given[] = {
      {"constant", options.constant.has_value()}, {"update", rule.update != rate::Update::per_epoch},
      {"measure", options.measure.has_value()},   {"second_moment", options.second_moment.has_value()},
      {"k1", rule.initial_k1.has_value()},        {"k2", rule.initial_k2.has_value()},
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

TrainOptions completed(TrainOptions options, const data::ImageSet& images) {
  const nn::OptimizerInfo optimizer = choose_optimizer(options);
  const bool coded = is_coded(options), grey = images.channels == 1;
  check(options_of(options));
  completed_settings(optimizer, options.settings);
  if (!options.policy) options.policy = usual_policy(optimizer);
  check_rates(options);
  complete_schedule(options);
  complete_grid(options);
  if (options.network.empty()) options.network = grey && images.height >= 12 ? "mnist-cnn" : "resnet20-v1";
  if (!options.batch) options.batch = grey ? 256 : 128;
  if (!options.l2) options.l2 = coded ? options.rule.decay : 0;
  if (!options.validation) options.validation = coded ? 0 : 0.1;
  if (options.optimizer == kAutomatic) {
    check_auto(options);
    return options;
  }
  if (options.first_rate.kind == FirstRate::Kind::usual) options.first_rate = usual_first_rate(options);
  if (!options.measure) options.measure = coded ? nn::Measure::pass : nn::Measure::in_step;
  expect(options.measure != nn::Measure::pass || options.rule.update == rate::Update::per_epoch,
         "--measure pass goes with --update epoch only");
  if (!options.second_moment) {
    options.second_moment = coded ? rate::SecondMoment::coded : rate::SecondMoment::without_weight_square;
  }
  if (!options.bias_correction) options.bias_correction = !coded;
  options.rule.bias_correction = *options.bias_correction && !options.rule.hold_averages;
  options.rule.coded_denominator = coded;
  return options;
}

nn::TrainerOptions trainer_options(const TrainOptions& options, const data::ImageSet& images) {
  const bool coded = is_coded(options);
  nn::TrainerOptions trainer;
  trainer.network = options.network;
  trainer.network_options = options.architecture;
  trainer.optimizer = options.optimizer;
  trainer.settings = options.settings;
  trainer.policy = trainer_policy(options);
  trainer.baseline_rate = options.rate.value_or(0);
  trainer.schedule_epochs = options.optimizer == kAutomatic ? options.epochs : options.schedule_epochs.value_or(0);
  trainer.warmup = options.warmup;
  trainer.controller.schedule = options.schedule;
  trainer.controller.rule_options = options.rule;
  if (options.first_rate.kind == FirstRate::Kind::number) {
    trainer.controller.rule_options.first_rate = options.first_rate.number;
  }
  trainer.controller.variant = coded ? bound::ConstantKind::coded : bound::ConstantKind::published;
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
  trainer.double_precision = options.double_precision;
  if (options.augment) trainer.augmentation = usual_augmentation(images);
  trainer.subtract_mean = images.channels > 1;
  trainer.seed = options.seed;
  trainer.threads = options.threads;
  return trainer;
}

}  // namespace lipschitzlr::run

#include "lipschitzlr/run/network_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "run/rate_trials.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;

// Every field once, for both directions.
template <class Choice, class Visit>
void visit_fields(Choice& c, Visit&& visit) {
  visit("data", c.data), visit("network", c.network), visit("optimizer", c.optimizer), visit("policy", c.policy);
  visit("protocol", c.protocol), visit("epochs", c.epochs), visit("batch", c.batch);
  visit("first_rate", c.first_rate), visit("rate", c.rate), visit("decay", c.decay), visit("l2", c.l2);
  visit("constant", c.constant), visit("update", c.update), visit("measure", c.measure),
      visit("second_moment", c.second_moment);
  visit("bias_correction", c.bias_correction), visit("beta", c.beta), visit("beta1", c.beta1);
  visit("beta2", c.beta2), visit("epsilon", c.epsilon), visit("k1", c.k1), visit("k2", c.k2);
  visit("hold_averages", c.hold_averages), visit("padding", c.padding), visit("bn_epsilon", c.bn_epsilon);
  visit("bn_momentum", c.bn_momentum), visit("augment", c.augment), visit("validation", c.validation);
  visit("limit", c.limit), visit("seed", c.seed), visit("threads", c.threads);
  visit("precision", c.precision);
  visit("settings", c.settings), visit("schedule", c.schedule), visit("schedule_epochs", c.schedule_epochs);
  visit("grid", c.grid), visit("grid_epochs", c.grid_epochs), visit("grid_images", c.grid_images);
}

// Not in the records of older versions, whose trainings had what is the default.
bool is_younger(const std::string& field) {
  return field == "precision" || field == "settings" || field.starts_with("schedule") || field.starts_with("grid");
}

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

void expect_one_of(const char* option, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  throw Error(Fault::usage, fmt::format("--{} {}: there are {}", option, value, fmt::join(known, ", ")));
}

void expect(bool good, const std::string& sentence) {
  if (!good) throw Error(Fault::usage, sentence);
}

bool is_rate(const std::string& text) { return number_from(text).value_or(0) > 0; }

void check_rates(const NetworkChoice& choice) {
  const bool by_hand = !computes_rates(choice);
  expect(by_hand || !choice.rate, "--rate goes with --policy baseline only: the other policies compute it");
  expect(!by_hand || choice.first_rate.empty() || choice.first_rate == "none",
         "--first-rate goes with computed rates; for --policy baseline there is --rate");
  expect(!choice.hold_averages || (choice.k1 && choice.k2), "--hold-averages needs --k1 and --k2");
  expect(by_hand || choice.schedule == "constant",
         "--schedule goes with --policy baseline or grid only: the other policies compute the rate");
}

// A rate that has come to 0 teaches nothing, so that more epochs than were planned are not to be had.
void complete_schedule(NetworkChoice& choice) {
  expect_one_of("schedule", choice.schedule, rate::schedule_names());
  if (choice.schedule == "constant") {
    expect(!choice.schedule_epochs, "--schedule-epochs goes with --schedule cosine or step");
    return;
  }
  if (!choice.schedule_epochs) choice.schedule_epochs = choice.epochs;
  expect(
      choice.schedule != "cosine" || choice.epochs <= *choice.schedule_epochs,
      fmt::format("--epochs {}: the cosine schedule brings the rate to 0 in {} epochs; plan for more from the start, "
                  "with --schedule-epochs",
                  choice.epochs, *choice.schedule_epochs));
}

void complete_grid(NetworkChoice& choice) {
  if (choice.policy != "grid") {
    expect(choice.grid.empty() && !choice.grid_epochs && !choice.grid_images,
           "--grid, --grid-epochs and --grid-images go with --policy grid");
    return;
  }
  grid_rates(choice.grid);
  if (!choice.grid_epochs) choice.grid_epochs = 3;
  if (!choice.grid_images) choice.grid_images = 5120;
}

nn::OptimizerSettings settings_from(const std::string& text) {
  nn::OptimizerSettings settings;
  if (text.empty()) return settings;
  for (const std::string& part : split(text, ',')) {
    const std::size_t sign = part.find('=');
    const std::optional<double> value = sign == std::string::npos ? std::nullopt : number_from(part.substr(sign + 1));
    expect(value && settings.emplace(part.substr(0, sign), *value).second,
           fmt::format("--set {}: expected names, each once, with numbers, such as beta1=0.8,epsilon=1e-6", text));
  }
  return settings;
}

bool is_coded(const NetworkChoice& choice) { return choice.protocol == "coded"; }

bool has_first_rate(const NetworkChoice& choice) { return choice.optimizer == "adamo" && computes_rates(choice); }

nn::Policy policy_from(const std::string& name) {
  if (name == "baseline" || name == "grid") return nn::Policy::baseline;
  return name == "fixed" ? nn::Policy::fixed : nn::Policy::adaptive;
}

// The paper's, for grey images (MNIST) and for coloured ones (CIFAR).
data::Augmentation usual_augmentation(const data::ImageSet& images) {
  if (images.channels == 1) return {.shift = 0.1, .zoom = 0.1, .rotation = 15, .flip = false};
  return {.shift = 0.1, .zoom = 0, .rotation = 0, .flip = true};
}

rate::RuleOptions rule_options(const NetworkChoice& choice) {
  rate::RuleOptions options;
  options.update = choice.update == "iteration" ? rate::Update::per_iteration : rate::Update::per_epoch;
  options.beta = choice.beta;
  options.beta1 = choice.beta1;
  options.beta2 = choice.beta2;
  options.epsilon = choice.epsilon;
  options.decay = choice.decay;
  options.initial_k1 = choice.k1;
  options.initial_k2 = choice.k2;
  options.hold_averages = choice.hold_averages;
  options.coded_denominator = is_coded(choice);
  if (choice.first_rate != "none") options.first_rate = std::stod(choice.first_rate);
  options.bias_correction = choice.bias_correction == "yes" && !choice.hold_averages;
  return options;
}

}  // namespace

bool computes_rates(const NetworkChoice& choice) { return choice.policy == "fixed" || choice.policy == "adaptive"; }

std::string to_json(const NetworkChoice& choice) {
  ordered_json json;
  visit_fields(choice, [&](const char* name, const auto& value) {
    if constexpr (requires { value.has_value(); }) {
      json[name] = value ? ordered_json(*value) : ordered_json(nullptr);
    } else {
      json[name] = value;
    }
  });
  return json.dump(2);
}

NetworkChoice network_choice_from(const std::string& text) {
  NetworkChoice choice;
  try {
    const ordered_json json = ordered_json::parse(text);
    visit_fields(choice, [&](const char* name, auto& value) {
      using Field = std::remove_reference_t<decltype(value)>;
      if (is_younger(name) && !json.contains(name)) return;
      const ordered_json& found = json.at(name);
      if (!found.is_null()) value = found.template get<typename Unwrapped<Field>::type>();
    });
  } catch (const ordered_json::exception& error) {
    throw Error(Fault::data, fmt::format("these are not the options of a network training: {}", error.what()));
  }
  return choice;
}

NetworkChoice completed(NetworkChoice choice, const data::ImageSet& images) {
  const nn::OptimizerInfo optimizer = nn::optimizer_info(choice.optimizer);
  if (choice.policy.empty()) choice.policy = optimizer.computed_rate ? "adaptive" : "baseline";
  expect_one_of("policy", choice.policy, {"baseline", "fixed", "adaptive", "grid"});
  completed_settings(optimizer, settings_from(choice.settings));
  expect_one_of("protocol", choice.protocol, {"published", "coded"});
  expect_one_of("update", choice.update, {"epoch", "iteration"});
  expect_one_of("augment", choice.augment, {"auto", "none"});
  expect_one_of("precision", choice.precision, {"single", "double"});
  check_rates(choice);
  expect(choice.epochs >= 1, "--epochs: there must be at least one");
  complete_schedule(choice);
  complete_grid(choice);
  const bool coded = is_coded(choice), grey = images.channels == 1;
  if (choice.network.empty()) choice.network = grey && images.height >= 12 ? "mnist-cnn" : "resnet20-v1";
  if (choice.batch == 0) choice.batch = grey ? 256 : 128;
  if (choice.first_rate.empty()) choice.first_rate = has_first_rate(choice) ? "0.1" : "none";
  expect(choice.first_rate == "none" || choice.first_rate == "search" || is_rate(choice.first_rate),
         fmt::format("--first-rate {}: expected a number above 0, search or none", choice.first_rate));
  if (choice.measure.empty()) choice.measure = coded ? "pass" : "in-step";
  expect_one_of("measure", choice.measure, {"in-step", "pass"});
  expect(choice.measure != "pass" || choice.update == "epoch", "--measure pass goes with --update epoch only");
  if (choice.second_moment.empty()) {
    choice.second_moment = to_string(coded ? rate::SecondMoment::coded : rate::SecondMoment::without_weight_square);
  }
  if (choice.bias_correction.empty()) choice.bias_correction = coded ? "no" : "yes";
  expect_one_of("bias-correction", choice.bias_correction, {"yes", "no"});
  if (!choice.l2) choice.l2 = coded ? choice.decay : 0;
  if (!choice.validation) choice.validation = coded ? 0 : 0.1;
  expect(*choice.validation >= 0 && *choice.validation < 1, "--validation: expected a share from 0 to below 1");
  expect(choice.limit >= 0, "--limit: expected a number of images");
  expect(choice.optimizer == "auto-adam" || (!choice.k1 && !choice.k2 && !choice.hold_averages),
         fmt::format("--k1, --k2 and --hold-averages are of auto-adam, not of {}", choice.optimizer));
  return choice;
}

nn::TrainerOptions trainer_options(const NetworkChoice& choice, const data::ImageSet& images) {
  const bool coded = is_coded(choice);
  nn::TrainerOptions options;
  options.network = choice.network;
  options.network_options.padding = nn::padding_from(choice.padding);
  options.network_options.batch_norm_epsilon = choice.bn_epsilon;
  options.network_options.batch_norm_momentum = choice.bn_momentum;
  options.optimizer = choice.optimizer;
  options.settings = settings_from(choice.settings);
  options.policy = policy_from(choice.policy);
  options.baseline_rate = choice.rate.value_or(0);
  options.schedule_epochs = choice.schedule_epochs.value_or(0);
  options.controller.schedule = rate::schedule_from(choice.schedule);
  options.controller.rule_options = rule_options(choice);
  options.controller.variant = coded ? bound::ConstantKind::coded : bound::ConstantKind::published;
  options.controller.second_moment = rate::second_moment_from(choice.second_moment);
  options.controller.l2 = choice.l2.value_or(0);
  options.controller.gradient_bound = choice.constant;
  // Keras's Adam corrects its averages; the authors' K1 and K2 are not corrected.
  options.correct_averages = choice.bias_correction == "yes" || (coded && choice.optimizer == "auto-adam");
  options.buffers_in_weight_norm = coded;
  options.measure = choice.measure == "pass" ? nn::Measure::pass : nn::Measure::in_step;
  // Keras's l2(1e-4) adds 1e-4 ||w||^2 to the loss.
  options.weight_decay = coded ? 2e-4 : choice.l2.value_or(0);
  options.decay_some_only = coded;
  options.batch = choice.batch;
  options.double_precision = choice.precision == "double";
  if (choice.augment == "auto") options.augmentation = usual_augmentation(images);
  options.subtract_mean = images.channels > 1;
  options.seed = choice.seed;
  options.threads = choice.threads;
  return options;
}

}  // namespace lipschitzlr::run

#include "lipschitzlr/run/network_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/clock.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/cores.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/interrupt.hpp"
#include "lipschitzlr/run/trainer_setup.hpp"
#include "run/network_figures.hpp"
#include "run/network_session.hpp"
#include "run/option_json.hpp"
#include "run/rate_trials.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLogSteps = 50;
constexpr double kCheckpointMinutes = 5;

// How many times the expected K_z is worth a warning: the paper's ResNet20 starts at four times of it, and its first
// computed rate is then of little use.
constexpr double kLarge = 4;

// A place that does not exist yet: runs/mnist-mnist-cnn-adamo-adaptive, then with -2, -3, ...
std::string new_folder(TrainOptions options) {
  const std::string data = std::filesystem::weakly_canonical(options.data).filename().string();
  const std::string base = fmt::format("runs/{}-{}-{}-{}", data, options.network, options.optimizer,
                                       to_text(find_option(options_of(options), "policy").member.get()));
  for (int number = 1;; ++number) {
    const std::string folder = number == 1 ? base : fmt::format("{}-{}", base, number);
    if (!std::filesystem::exists(folder)) return folder;
  }
}

// The quantities of rate/auto.hpp.
void add_automatic(ordered_json& line, const std::optional<rate::AutoNumbers>& numbers) {
  if (!numbers) return;
  line["F"] = numbers->loss;
  line["L_inf"] = numbers->gradient;
  line["H"] = numbers->head;
  line["P"] = numbers->measured_rate;
  line["Hb"] = numbers->closed_form_rate;
  line["rollbacks"] = numbers->rollbacks;
}

std::vector<double> class_counts(const data::Examples& examples, std::span<const Index> chosen) {
  std::vector<double> counts(static_cast<std::size_t>(examples.classes()));
  for (const Index example : chosen) ++counts[static_cast<std::size_t>(examples.target(example))];
  return counts;
}

// Half the mean squared distance from the training rows' mean, which is 0.
double zero_loss(const data::Examples& examples, std::span<const Index> chosen) {
  double squares = 0;
  for (const Index example : chosen) squares += examples.target(example) * examples.target(example);
  return squares / (2 * static_cast<double>(chosen.size()));
}

double majority_share(const std::vector<double>& counts) {
  return *std::max_element(counts.begin(), counts.end()) / std::accumulate(counts.begin(), counts.end(), 0.0);
}

// The cross-entropy of naming the shares of the training classes for every example; a class never seen counts half.
double constant_loss(const std::vector<double>& training, const std::vector<double>& validation) {
  double seen = 0, examples = 0, sum = 0;
  for (const double count : training) seen += std::max(count, 0.5);
  for (std::size_t i = 0; i < validation.size(); ++i) {
    sum += validation[i] * std::log(seen / std::max(i < training.size() ? training[i] : 0, 0.5));
    examples += validation[i];
  }
  return sum / examples;
}

}  // namespace

NetworkSession::NetworkSession(const TrainRequest& request) : request_(request) {
  if (request_.communicator) expect_same_start();
  request_.resume.empty() ? check_used(request_.options) : take_options_of_folder();
  if (!request_.log_steps) request_.log_steps = kLogSteps;
  if (!request_.checkpoint_minutes) request_.checkpoint_minutes = kCheckpointMinutes;
  data_ = NetworkData::load(request_.options);
  result_.options = request_.options = completed(request_.options, data_->shape());
  result_.family = data_->shape().family.value_or(linear::Family::softmax);
  result_.unit = data_->unit();
  if (request_.communicator) expect_same_data_and_options();
  result_.folder = from_root(request_.communicator, [&] {
    if (!request_.resume.empty()) return request_.resume;
    const std::string folder = request_.folder.empty() ? new_folder(request_.options) : request_.folder;
    require_no_record(folder);
    return folder;
  });
  progress_ = std::make_unique<NetworkProgress>(is_root() ? request_.verbosity : Verbosity::silent,
                                                *request_.options.epochs, is_root() && request_.watch,
                                                result_.family == linear::Family::linear, data_->unit());
  for (const std::string& remark : data_->remarks()) progress_->say(remark);
  split_data();
  make_examples();
  if (request_.resume.empty() && needs_trials(request_.options)) find_rate();
  trainer_ = std::make_unique<nn::Trainer>(trainer_options(options_with_threads(), data_->shape()), data_->train(),
                                           training_, request_.communicator);
  result_.parameters = trainer_->parameter_count();
  result_.processes = request_.communicator ? request_.communicator->size() : 1;
  if (!request_.weights.empty() && request_.resume.empty()) {
    for (const std::string& remark : trainer_->load_weights(request_.weights)) {
      progress_->say(fmt::format("{}: {}", request_.weights, remark));
    }
  }
  guard_ = std::make_unique<rate::StartGuard>(rate::StartGuardOptions{
      .expected_penultimate_norm =
          rate::expected_penultimate_norm(*request_.options.batch, trainer_->penultimate_width()),
      .expected_weight_norm = trainer_->weight_norm(),
      .factor = kLarge});
  if (!request_.resume.empty()) {
    resume();
  } else if (is_root()) {
    open_record();
  }
}

// What decides which steps all processes take together; files have their names on rank 0 alone.
void NetworkSession::expect_same_start() const {
  require_equal(*request_.communicator, "options",
                fmt::format("resume {}, epochs {}, weights {}", !request_.resume.empty(),
                            request_.more_epochs.value_or(0), !request_.weights.empty()));
}

void NetworkSession::expect_same_data_and_options() const {
  TrainOptions options = request_.options;
  options.threads = 0;  // each machine may have its own number,
  options.data = {};    // and the data in another place
  require_equal(*request_.communicator, "options", to_json(options_of(options)).dump());
  require_equal(*request_.communicator, data_->unit(), data_->fingerprint(), Fault::data);
}

TrainOptions NetworkSession::options_with_threads() const {
  TrainOptions options = request_.options;
  options.threads = threads_beside(request_.communicator, options.threads);
  return options;
}

void NetworkSession::split_data() {
  const bool table = data_->table() != nullptr;
  validates_on_test_ = *request_.options.validation == 0;
  if (validates_on_test_) {
    if (data_->test_count() == 0) {
      throw Error(Fault::usage, fmt::format("{} has no test {} to validate on; set some training {} aside with "
                                            "--validation 0.1",
                                            request_.options.data, data_->unit(), data_->unit()));
    }
    training_.resize(static_cast<std::size_t>(data_->train_count()));
    validation_.resize(static_cast<std::size_t>(data_->test_count()));
    std::iota(training_.begin(), training_.end(), Index{0});
    std::iota(validation_.begin(), validation_.end(), Index{0});
    result_.validated_on = fmt::format("the {} test {}", validation_.size(), data_->unit());
  } else {
    const data::Split split = data_->split(*request_.options.validation, request_.options.seed);
    training_ = split.train;
    validation_ = split.test;
    const char* one = table ? "row" : "image";
    if (validation_.empty()) throw Error(Fault::usage, fmt::format("--validation: the share is less than one {}", one));
    if (training_.empty()) {
      throw Error(Fault::usage, fmt::format("--validation: the share leaves no {} to train on", one));
    }
    result_.validated_on = fmt::format("{} training {} set aside", validation_.size(), data_->unit());
  }
  const auto count = static_cast<std::size_t>(request_.options.limit.value_or(0)), all = training_.size();
  if (count > 0 && count < all) {
    // Evenly: folders have their images class by class.
    for (std::size_t i = 0; i < count; ++i) training_[i] = training_[i * all / count];
    training_.resize(count);
  }
}

void NetworkSession::make_examples() {
  data_->make_examples(trainer_options(options_with_threads(), data_->shape()), training_);
  if (result_.family == linear::Family::linear) {
    result_.target_deviation = data_->table()->target_deviation;
    constant_loss_ = zero_loss(validated(), validation_);
    return;
  }
  const std::vector<double> counts = class_counts(validated(), validation_);
  result_.majority_accuracy = majority_share(counts);
  constant_loss_ = constant_loss(class_counts(data_->train(), training_), counts);
}

void NetworkSession::after_step(const nn::StepReport& step) {
  if (!is_root()) return;
  progress_->show(step, weight_norm_);
  if (!step.remark.empty()) {
    progress_->say(step.remark);
    if (step.step == 1) {
      automatic_["introduction"] = step.remark;
    } else {
      result_.remarks.push_back(step.remark);
    }
  }
  if (*request_.log_steps > 0 && step.step % *request_.log_steps == 0) {
    ordered_json line = {{"kind", "step"},
                         {"epoch", step.epoch},
                         {"step", step.step},
                         {"loss", step.loss},
                         {result_.family == linear::Family::linear ? "r2" : "accuracy", step.accuracy},
                         {"rate", step.rate},
                         {"K_z", step.penultimate_norm}};
    add_automatic(line, step.automatic);
    record_->write(line);
  }
  if (seconds_since(last_checkpoint_) >= *request_.checkpoint_minutes * 60) checkpoint();
}

std::string NetworkSession::warning(std::int64_t epoch, double penultimate_norm, double weight_norm) {
  if (!request_.options.computes_rates()) return {};
  const std::string text = guard_->observe(static_cast<int>(epoch), penultimate_norm, weight_norm);
  if (text.empty()) return {};
  return result_.remarks.emplace_back(text + " with --first-rate");
}

bool NetworkSession::is_better(const nn::Evaluation& one, const nn::Evaluation& other) const {
  if (!std::isfinite(one.loss) || !std::isfinite(other.loss)) return std::isfinite(one.loss);
  if (data_->table() != nullptr) return one.loss < other.loss;
  return one.accuracy > other.accuracy || (one.accuracy == other.accuracy && one.loss < other.loss);
}

bool NetworkSession::judge(std::int64_t epoch, const nn::Evaluation& validation) {
  result_.final_validation = validation;
  const bool worse =
      data_->table() != nullptr ? !is_better(validation, result_.best) : validation.accuracy <= result_.best.accuracy;
  if (result_.best_epoch > 0 && worse) return false;
  result_.best = validation;
  result_.best_epoch = epoch;
  return true;
}

// The last step of an epoch can spoil the weights without a later one to show it.
void NetworkSession::expect_finite(const nn::EpochReport& epoch, const nn::Evaluation& validation) const {
  if (std::isfinite(validation.loss)) return;
  if (epoch.automatic && epoch.epoch < *request_.options.epochs) return;  // its guard sends the weights back
  const nn::RateNumbers& numbers = epoch.numbers;
  const Policy policy = request_.options.policy.value_or(Policy::adaptive);
  const bool computed = !epoch.automatic && (policy == Policy::adaptive || policy == Policy::fixed);
  throw Error(Fault::training,
              fmt::format("the validation loss is {} after epoch {}, step {}, with the rate {:.6g} (K_z = {:.6g}, max "
                          "||w|| = {:.6g}, G = {:.6g}); {}",
                          validation.loss, epoch.epoch, epoch.step, epoch.last_rate, numbers.penultimate_norm,
                          numbers.weight_norm, numbers.gradient_bound,
                          computed          ? "a smaller rate may help, such as --first-rate 0.001"
                          : epoch.automatic ? "look for inputs or targets that are far too large"
                                            : "a smaller --rate may help"));
}

nn::Evaluation NetworkSession::validate() {
  const auto measured = [&] { return trainer_->evaluate(validated(), validation_); };
  if (!trainer_->has_average()) return measured();
  trainer_->use_average(false);
  const nn::Evaluation last = measured();
  trainer_->use_average(true);
  const nn::Evaluation average = measured();
  trainer_->use_average(is_better(average, last));
  automatic_["validation"] = {{"last_weights", figures_of(last)}, {"averaged_weights", figures_of(average)}};
  return trainer_->uses_average() ? average : last;
}

void NetworkSession::after_epoch() {
  const nn::EpochReport epoch = result_.last = trainer_->epoch_report();
  const Clock::time_point start = Clock::now();
  const nn::Evaluation validation = validate();
  train_seconds_ += epoch.train_seconds;
  images_seen_ += epoch.images;
  if (epoch.check) add_counts(checked_, *epoch.check);
  if (is_root()) write(epoch, validation, seconds_since(start));
  expect_finite(epoch, validation);
  const bool best = judge(epoch.epoch, validation);
  if (!is_root()) return;
  if (best) trainer_->save_weights(result_.folder + "/best.safetensors");
  progress_->show(epoch, validation, best);
  const std::string words = warning(epoch.epoch, epoch.numbers.penultimate_norm, epoch.numbers.weight_norm);
  if (!words.empty()) progress_->say("warning: " + words);
  checkpoint();
}

void NetworkSession::write(const nn::EpochReport& epoch, const nn::Evaluation& validation, double validate_seconds) {
  ordered_json line = {{"kind", "epoch"},
                       {"epoch", epoch.epoch},
                       {"step", epoch.step},
                       {"loss", epoch.loss},
                       {"penalty", epoch.penalty}};
  const auto add = [&](const std::string& prefix, const ordered_json& figures) {
    for (const auto& [name, value] : figures.items()) line[prefix + name] = value;
  };
  add("", figures_of({epoch.loss, epoch.accuracy}));
  add("val_", figures_of(validation));
  const ordered_json rest = {{"rate", epoch.rate},
                             {"last_rate", epoch.last_rate},
                             {"K_z", epoch.numbers.penultimate_norm},
                             {"max_w", epoch.numbers.weight_norm},
                             {"G", epoch.numbers.gradient_bound},
                             {"S", epoch.numbers.second_moment},
                             {"train_seconds", epoch.train_seconds},
                             {"data_seconds", epoch.data_seconds},
                             {"measure_seconds", epoch.measure_seconds},
                             {"validate_seconds", validate_seconds}};
  line.insert(rest.begin(), rest.end());
  add_automatic(line, epoch.automatic);
  if (epoch.check) add_check(line, *epoch.check);
  if (epoch.automatic) line["averaged"] = trainer_->uses_average() ? 1 : 0;
  record_->write(line);
}

// Which weights were taken, and the certificate.
void NetworkSession::close_automatic() {
  if (!trainer_->has_average()) return;
  const bool average = trainer_->uses_average();
  automatic_["weights"] = average ? "averaged" : "last";
  automatic_["certificate"] = trainer_->certificate();
  if (automatic_.contains("validation")) {
    const ordered_json& seen = automatic_["validation"];
    const auto accuracy = [&](bool of_average) {
      const ordered_json& figures = seen.at(of_average ? "averaged_weights" : "last_weights");
      return accuracy_text(result_.family,
                           figures.value(result_.family == linear::Family::linear ? "r2" : "accuracy", 0.0));
    };
    progress_->say(fmt::format("The {} weights are saved: {} of the validation {}, the {} ones {}.",
                               average ? "averaged" : "last", accuracy(average), data_->unit(),
                               average ? "last" : "averaged", accuracy(!average)));
  }
  if (!trainer_->certificate().empty()) progress_->say(fmt::format("Certificate: {}.", trainer_->certificate()));
}

void NetworkSession::finish() {
  progress_->finish();
  result_.epochs = trainer_->epochs_done();
  result_.steps = trainer_->steps_done();
  result_.seconds = seconds_since(start_);
  result_.images_per_second = train_seconds_ > 0 ? static_cast<double>(images_seen_) / train_seconds_ : 0;
  if (result_.interrupted) {
    checkpoint();
    return;
  }
  close_automatic();
  if (checked_.steps > 0) progress_->say(check_sentence(checked_));
  if (record_) trainer_->save_weights(result_.folder + "/weights.safetensors");
  if (data_->test_count() > 0) {
    DenseMatrix<double> scores;
    result_.test = trainer_->evaluate(data_->test(), data::all_of(data_->test()), &scores);
    result_.test_figures = data_->evaluate_test(scores);
  }
  if (const std::string why = trainer_->shortfall(result_.final_validation.loss, constant_loss_); !why.empty()) {
    result_.remarks.push_back(why);
  } else if (result_.best.accuracy <= result_.majority_accuracy) {
    const bool numbers = result_.family == linear::Family::linear;
    result_.remarks.push_back(fmt::format(
        "the best accuracy, {}, is no better than {} every time: train for more --epochs, or with another --optimizer",
        accuracy_text(result_.family, result_.best.accuracy),
        numbers ? "naming the mean"
                : "naming the most frequent class, " + accuracy_text(result_.family, result_.majority_accuracy)));
  }
  if (record_) record_->finish(summary());
}

TrainResult NetworkSession::run() {
  const InterruptGuard interrupt;
  try {
    while (trainer_->epochs_done() < *request_.options.epochs) {
      const bool ended = trainer_->run_epoch([&](const nn::StepReport& step) {
        after_step(step);
        return !interrupt.interrupted();
      });
      if (ended) after_epoch();
      const bool stop = all_reduce_sum(request_.communicator, !ended || interrupt.interrupted() ? 1 : 0) > 0;
      if (stop && trainer_->epochs_done() < *request_.options.epochs) {
        result_.interrupted = true;
        break;
      }
    }
  } catch (const Error& error) {
    if (error.fault() != Fault::training || !is_root()) throw;
    const bool saved = std::filesystem::exists(checkpoint_path());
    throw Error(Fault::training, fmt::format("{}. {}", error.what(),
                                             saved ? "The last good checkpoint is " + checkpoint_path()
                                                   : std::string("There is no checkpoint yet")));
  }
  finish();
  result_.json = summary().dump(2);
  return result_;
}

std::string accuracy_text(linear::Family family, double accuracy) {
  return family == linear::Family::linear ? fmt::format("R^2 {:.4f}", accuracy)
                                          : fmt::format("{:.2f} %", accuracy * 100);
}

// The loss of numbers is that of the standardised ones.
ordered_json NetworkSession::figures_of(const nn::Evaluation& of) const {
  if (result_.family != linear::Family::linear) return {{"accuracy", of.accuracy}, {"loss", of.loss}};
  return {{"r2", of.accuracy}, {"rmse", std::sqrt(2 * of.loss) * result_.target_deviation}, {"loss", of.loss}};
}

TrainResult train_network(const TrainRequest& request) { return NetworkSession(request).run(); }

ordered_json NetworkSession::summary() const {
  const auto evaluation = [&](const nn::Evaluation& of) {
    ordered_json figures = figures_of(of);
    figures[data_->unit()] = of.count;
    return figures;
  };
  ordered_json json = {{"folder", result_.folder},
                       {"stopped", result_.interrupted ? "interrupted" : "epochs done"},
                       {"epochs", result_.epochs},
                       {"steps", result_.steps},
                       {"parameters", result_.parameters},
                       {"processes", result_.processes},
                       {"validated_on", result_.validated_on},
                       {"best", evaluation(result_.best)},
                       {"final", evaluation(result_.final_validation)}};
  json["best"]["epoch"] = result_.best_epoch;
  if (result_.test) {
    json["test"] = evaluation(*result_.test);
    if (result_.family == linear::Family::linear) json["test"] = {{"rows", result_.test->count}};  // all in its units
    add_figures(json["test"], *result_.test_figures);
  }
  json["train_loss"] = result_.last.loss;
  if (result_.family == linear::Family::linear) {
    json["train_r2"] = result_.last.accuracy;
    json["target_deviation"] = result_.target_deviation;
  } else {
    json["train_accuracy"] = result_.last.accuracy;
    json["majority_accuracy"] = result_.majority_accuracy;
  }
  json["seconds"] = result_.seconds;
  json[fmt::format("{}_per_second", data_->unit())] = result_.images_per_second;
  if (!trials_.is_null()) json["trials"] = trials_;
  if (!automatic_.is_null()) json["auto"] = automatic_;
  if (checked_.steps > 0) json["check"] = to_json(checked_);
  json["remarks"] = result_.remarks;
  return json;
}

}  // namespace lipschitzlr::run

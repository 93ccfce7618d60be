#include "lipschitzlr/run/network_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/image_sources.hpp"
#include "lipschitzlr/rate/guard.hpp"
#include "lipschitzlr/run/interrupt.hpp"
#include "lipschitzlr/run/record.hpp"
#include "nn/process.hpp"
#include "run/first_rate.hpp"
#include "run/network_progress.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// How many times the expected K_z is worth a warning: the paper's ResNet20 starts at four times of it, and its first
// computed rate is then of little use.
constexpr double kLarge = 4;

constexpr std::int64_t kLogSteps = 50;
constexpr double kCheckpointMinutes = 5;
constexpr const char* kKind = "network training";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<Index> all_images(const data::ImageSet& images) {
  std::vector<Index> indices(static_cast<std::size_t>(images.count()));
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

// A place that does not exist yet: runs/mnist-mnist-cnn-sgd-adaptive, then with -2, -3, ...
std::string new_folder(const NetworkChoice& choice) {
  const std::string data = std::filesystem::path(choice.data).filename().string();
  const std::string base = fmt::format("runs/{}-{}-{}-{}", data, choice.network, choice.optimizer, choice.policy);
  for (int number = 1;; ++number) {
    const std::string folder = number == 1 ? base : fmt::format("{}-{}", base, number);
    if (!std::filesystem::exists(folder)) return folder;
  }
}

double majority_share(const data::ImageSet& images, std::span<const Index> chosen) {
  std::vector<Index> counts(images.classes.size());
  for (const Index image : chosen) ++counts[static_cast<std::size_t>(images.labels[static_cast<std::size_t>(image)])];
  return static_cast<double>(*std::max_element(counts.begin(), counts.end())) / static_cast<double>(chosen.size());
}

// One run while it goes on.
class Running {
 public:
  explicit Running(const NetworkRun& run);
  NetworkResult go();

 private:
  void split_images();
  void take_choice_of_folder();
  void open_record();
  void resume();
  std::int64_t recall_run(const std::string& note);
  void recall_epochs();
  bool judge(std::int64_t epoch, const nn::Evaluation& validation);
  void after_step(const nn::StepReport& step);
  void after_epoch();
  std::string warning(std::int64_t epoch, double penultimate_norm, double weight_norm);
  void checkpoint();
  std::string checkpoint_path() const { return result_.folder + "/checkpoint.safetensors"; }
  void finish();

  NetworkRun run_;
  data::ImageSet train_, test_;
  std::vector<Index> training_, validation_;  // validation_ counts in train_, or in test_ when coded
  bool validates_on_test_ = false;
  NetworkResult result_;
  std::unique_ptr<NetworkProgress> progress_;
  std::unique_ptr<nn::Trainer> trainer_;
  std::unique_ptr<Record> record_;
  std::unique_ptr<rate::StartGuard> guard_;
  Clock::time_point start_ = Clock::now(), last_checkpoint_ = Clock::now();
  double train_seconds_ = 0;
  Index images_seen_ = 0;
  double weight_norm_ = 0;
};

Running::Running(const NetworkRun& run) : run_(run) {
  if (run_.resume) take_choice_of_folder();
  train_ = data::load_images(run_.choice.data, data::Part::train);
  test_ = data::load_images(run_.choice.data, data::Part::test);
  result_.choice = run_.choice = completed(run_.choice, train_);
  result_.folder = run_.folder.empty() ? new_folder(run_.choice) : run_.folder;
  if (!run_.resume) Record::expect_room(result_.folder);
  progress_ = std::make_unique<NetworkProgress>(run_.verbosity, run_.choice.epochs);
  split_images();
  if (run_.choice.first_rate == "search") {
    const auto trial =
        search_first_rate(run_.choice, train_, training_, [&](const std::string& s) { progress_->say(s); });
    result_.choice.first_rate = run_.choice.first_rate = trial;
  }
  trainer_ = std::make_unique<nn::Trainer>(trainer_options(run_.choice, train_), train_, training_);
  result_.parameters = trainer_->parameter_count();
  if (!run_.weights.empty() && !run_.resume) trainer_->load_weights(run_.weights);
  guard_ = std::make_unique<rate::StartGuard>(rate::StartGuardOptions{
      .expected_penultimate_norm = rate::expected_penultimate_norm(run_.choice.batch, trainer_->penultimate_width()),
      .factor = kLarge});
  if (run_.resume) {
    resume();
  } else {
    open_record();
  }
}

void Running::take_choice_of_folder() {
  const std::string path = run_.folder + "/config.json";
  const ordered_json config = ordered_json::parse(read_file(path), nullptr, false);
  if (!config.is_object() || config.value("kind", "") != kKind || !config.contains("options")) {
    throw Error(Fault::data, fmt::format("{}: is not the record of a network training", path));
  }
  const unsigned threads = run_.choice.threads;
  try {
    run_.choice = network_choice_from(config["options"].dump());
  } catch (const Error& error) {
    throw Error(error.fault(), fmt::format("{}: {}", path, error.what()));
  }
  if (threads != 0) run_.choice.threads = threads;
  if (run_.more_epochs) run_.choice.epochs = *run_.more_epochs;
  if (!run_.log_steps) run_.log_steps = config.value("log_steps", kLogSteps);
  if (!run_.checkpoint_minutes) run_.checkpoint_minutes = config.value("checkpoint_minutes", kCheckpointMinutes);
}

void Running::split_images() {
  training_ = all_images(train_);
  validates_on_test_ = *run_.choice.validation == 0;
  if (validates_on_test_) {
    if (test_.count() == 0) {
      throw Error(Fault::usage, fmt::format("{} has no test images to validate on; set some training images aside with "
                                            "--validation 0.1",
                                            run_.choice.data));
    }
    validation_ = all_images(test_);
    result_.validated_on = fmt::format("the {} test images", test_.count());
  } else {
    Random random(run_.choice.seed);
    random.shuffle(std::span(training_));
    const auto aside =
        static_cast<std::size_t>(std::llround(*run_.choice.validation * static_cast<double>(training_.size())));
    if (aside == 0) throw Error(Fault::usage, "--validation: the share is less than one image");
    if (aside == training_.size()) throw Error(Fault::usage, "--validation: the share leaves no image to train on");
    validation_.assign(training_.begin(), training_.begin() + static_cast<std::ptrdiff_t>(aside));
    training_.erase(training_.begin(), training_.begin() + static_cast<std::ptrdiff_t>(aside));
    std::sort(training_.begin(), training_.end());
    result_.validated_on = fmt::format("{} training images set aside", aside);
  }
  if (run_.choice.limit > 0 && run_.choice.limit < static_cast<Index>(training_.size())) {
    training_.resize(static_cast<std::size_t>(run_.choice.limit));
  }
  result_.majority_accuracy = majority_share(validates_on_test_ ? test_ : train_, validation_);
}

void Running::open_record() {
  const ordered_json config = {{"kind", kKind},
                               {"command", run_.command},
                               {"options", ordered_json::parse(to_json(run_.choice))},
                               {"log_steps", run_.log_steps.value_or(kLogSteps)},
                               {"checkpoint_minutes", run_.checkpoint_minutes.value_or(kCheckpointMinutes)},
                               {"parameters", result_.parameters},
                               {"training_images", training_.size()},
                               {"validated_on", result_.validated_on}};
  record_ = std::make_unique<Record>(result_.folder, config.dump(2));
}

void Running::resume() {
  if (!std::filesystem::exists(checkpoint_path())) {
    throw Error(Fault::data,
                fmt::format("{}: there is no checkpoint yet; start again, in another folder", checkpoint_path()));
  }
  nn::Trainer::Notes notes = trainer_->load(checkpoint_path());
  std::int64_t lines = 0;
  try {
    lines = recall_run(notes["run"]);
  } catch (const ordered_json::exception&) {
    throw Error(Fault::data, fmt::format("{}: its notes are not those of a run", checkpoint_path()));
  }
  const int threads = nn::process_facts().threads;
  if (notes["threads"] != std::to_string(threads)) {
    result_.remarks.push_back(
        fmt::format("the checkpoint was made with --threads {}, this run has {}: libtorch's last bits will differ",
                    notes["threads"], threads));
  }
  const bool done = trainer_->epochs_done() >= run_.choice.epochs;
  // The summary of a finished run stays: it knows how long the training took.
  if (!done || !std::filesystem::exists(result_.folder + "/summary.json")) {
    record_ = std::make_unique<Record>(Record::reopen(result_.folder, lines));
  }
  recall_epochs();
  progress_->set_epochs(run_.choice.epochs);
  progress_->say(
      done ? fmt::format("all {} epochs are done, nothing is left to do; go on with more --epochs",
                         trainer_->epochs_done())
           : fmt::format("resumed at epoch {}, step {}", trainer_->epochs_done() + 1, trainer_->steps_done()));
}

// Returns how many lines of the record the checkpoint knows.
std::int64_t Running::recall_run(const std::string& note) {
  const ordered_json own = ordered_json::parse(note);
  NetworkChoice saved = network_choice_from(own.at("options").dump());
  // More epochs may have been asked for since config.json was written.
  run_.choice.epochs = saved.epochs = run_.more_epochs.value_or(saved.epochs);
  saved.threads = run_.choice.threads;
  if (to_json(saved) != to_json(run_.choice)) {
    throw Error(Fault::data, fmt::format("{}: belongs to a training with other options than {}/config.json",
                                         checkpoint_path(), result_.folder));
  }
  result_.choice = run_.choice;
  return own.at("lines").get<std::int64_t>();
}

// What the epochs before the checkpoint came to stands in the record.
void Running::recall_epochs() {
  const std::string path = result_.folder + "/metrics.jsonl";
  std::istringstream lines(read_file(path));
  try {
    for (std::string line; std::getline(lines, line);) {
      const ordered_json entry = ordered_json::parse(line);
      if (entry.at("kind") != "epoch") continue;
      // JSON has no infinity.
      const auto number = [&](const char* name) {
        return entry.at(name).is_null() ? std::numeric_limits<double>::infinity() : entry.at(name).get<double>();
      };
      result_.last.loss = number("loss");
      result_.last.accuracy = number("accuracy");
      judge(entry.at("epoch"), {number("val_loss"), number("val_accuracy"), static_cast<Index>(validation_.size())});
      warning(entry.at("epoch"), number("K_z"), number("max_w"));
    }
  } catch (const ordered_json::exception&) {
    throw Error(Fault::data, fmt::format("{}: is not the record of a network training", path));
  }
}

void Running::checkpoint() {
  weight_norm_ = trainer_->weight_norm();
  last_checkpoint_ = Clock::now();
  if (!std::isfinite(weight_norm_)) return;  // the last good one stays
  record_->flush();
  const ordered_json own = {{"options", ordered_json::parse(to_json(run_.choice))}, {"lines", record_->lines()}};
  trainer_->save(checkpoint_path(), {{"run", own.dump()}});
}

void Running::after_step(const nn::StepReport& step) {
  progress_->show(step, weight_norm_);
  const std::int64_t log_steps = run_.log_steps.value_or(kLogSteps);
  if (log_steps > 0 && step.step % log_steps == 0) {
    record_->write(ordered_json{{"kind", "step"},
                                {"epoch", step.epoch},
                                {"step", step.step},
                                {"loss", step.loss},
                                {"accuracy", step.accuracy},
                                {"rate", step.rate},
                                {"K_z", step.penultimate_norm}}
                       .dump());
  }
  if (seconds_since(last_checkpoint_) >= run_.checkpoint_minutes.value_or(kCheckpointMinutes) * 60) checkpoint();
}

std::string Running::warning(std::int64_t epoch, double penultimate_norm, double weight_norm) {
  if (run_.choice.policy == "baseline") return {};
  const std::string text = guard_->observe(static_cast<int>(epoch), penultimate_norm, weight_norm);
  if (text.empty()) return {};
  return result_.remarks.emplace_back(text + " with --first-rate");
}

// Whether it is the best so far.
bool Running::judge(std::int64_t epoch, const nn::Evaluation& validation) {
  result_.final_validation = validation;
  if (result_.best_epoch > 0 && validation.accuracy <= result_.best.accuracy) return false;
  result_.best = validation;
  result_.best_epoch = epoch;
  return true;
}

void Running::after_epoch() {
  const nn::EpochReport epoch = result_.last = trainer_->epoch_report();
  const Clock::time_point start = Clock::now();
  const nn::Evaluation validation = trainer_->evaluate(validates_on_test_ ? test_ : train_, validation_);
  const bool best = judge(epoch.epoch, validation);
  if (best) trainer_->save_weights(result_.folder + "/best.safetensors");
  weight_norm_ = trainer_->weight_norm();
  train_seconds_ += epoch.train_seconds;
  images_seen_ += epoch.images;
  record_->write(ordered_json{{"kind", "epoch"},
                              {"epoch", epoch.epoch},
                              {"step", epoch.step},
                              {"loss", epoch.loss},
                              {"penalty", epoch.penalty},
                              {"accuracy", epoch.accuracy},
                              {"val_loss", validation.loss},
                              {"val_accuracy", validation.accuracy},
                              {"rate", epoch.rate},
                              {"last_rate", epoch.last_rate},
                              {"K_z", epoch.numbers.penultimate_norm},
                              {"max_w", epoch.numbers.weight_norm},
                              {"G", epoch.numbers.gradient_bound},
                              {"S", epoch.numbers.second_moment},
                              {"train_seconds", epoch.train_seconds},
                              {"data_seconds", epoch.data_seconds},
                              {"measure_seconds", epoch.measure_seconds},
                              {"validate_seconds", seconds_since(start)}}
                     .dump());
  progress_->show(epoch, validation, best);
  const std::string words = warning(epoch.epoch, epoch.numbers.penultimate_norm, epoch.numbers.weight_norm);
  if (!words.empty()) progress_->say("warning: " + words);
  checkpoint();
}

void Running::finish() {
  result_.epochs = trainer_->epochs_done();
  result_.steps = trainer_->steps_done();
  result_.seconds = seconds_since(start_);
  result_.images_per_second = train_seconds_ > 0 ? static_cast<double>(images_seen_) / train_seconds_ : 0;
  if (result_.interrupted) {
    checkpoint();
    return;
  }
  if (record_) trainer_->save_weights(result_.folder + "/weights.safetensors");
  if (test_.count() > 0) {
    result_.test = validates_on_test_ ? result_.final_validation : trainer_->evaluate(test_, all_images(test_));
  }
  if (record_) record_->finish(to_json(result_));
}

NetworkResult Running::go() {
  const InterruptGuard interrupt;
  try {
    while (trainer_->epochs_done() < run_.choice.epochs) {
      const bool ended = trainer_->run_epoch([&](const nn::StepReport& step) {
        after_step(step);
        return !interrupt.interrupted();
      });
      if (ended) after_epoch();
      if (interrupt.interrupted() && trainer_->epochs_done() < run_.choice.epochs) {
        result_.interrupted = true;
        break;
      }
    }
  } catch (const Error& error) {
    if (error.fault() != Fault::training) throw;
    const bool saved = std::filesystem::exists(checkpoint_path());
    throw Error(Fault::training, fmt::format("{}. {}", error.what(),
                                             saved ? "The last good checkpoint is " + checkpoint_path()
                                                   : std::string("There is no checkpoint yet")));
  }
  finish();
  return result_;
}

}  // namespace

NetworkResult train_network(const NetworkRun& run) { return Running(run).go(); }

std::string to_json(const NetworkResult& result) {
  const auto evaluation = [](const nn::Evaluation& of) {
    return ordered_json{{"accuracy", of.accuracy}, {"loss", of.loss}, {"images", of.count}};
  };
  ordered_json json = {
      {"folder", result.folder},         {"stopped", result.interrupted ? "interrupted" : "epochs done"},
      {"epochs", result.epochs},         {"steps", result.steps},
      {"parameters", result.parameters}, {"validated_on", result.validated_on},
      {"best", evaluation(result.best)}, {"final", evaluation(result.final_validation)}};
  json["best"]["epoch"] = result.best_epoch;
  if (result.test) json["test"] = evaluation(*result.test);
  json["train_loss"] = result.last.loss;
  json["train_accuracy"] = result.last.accuracy;
  json["majority_accuracy"] = result.majority_accuracy;
  json["seconds"] = result.seconds;
  json["images_per_second"] = result.images_per_second;
  json["remarks"] = result.remarks;
  return json.dump(2);
}

}  // namespace lipschitzlr::run

#include "run/rate_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "run/network_session.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;

const std::vector<double> kFirstRates = {0.1, 0.5, 1};  // the paper's, with its five epochs
constexpr std::int64_t kFirstRateEpochs = 5;
constexpr Index kFirstRateImages = 5120;
const std::vector<double> kGrid = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1};
const std::vector<double> kSecondAverages = {1e-3, 1e-4, 1e-5, 1e-6};  // the paper's
constexpr std::size_t kJudges = 1000;

std::string name_of(Searched option) {
  return option == Searched::rate ? "rate" : option == Searched::k2 ? "K2" : "first rate";
}

Searched searched_by(const TrainOptions& options) {
  if (options.policy == Policy::grid) return Searched::rate;
  return options.search_k2 ? Searched::k2 : Searched::first_rate;
}

RateTrial try_one(const TrainOptions& options, double rate, const NetworkData& data, const std::vector<Index>& train,
                  const std::vector<Index>& judges, const std::string& weights, Communicator* communicator) {
  nn::Trainer trainer(trainer_options(options, data.shape()), data.train(), train, communicator);
  if (!weights.empty()) trainer.load_weights(weights);
  try {
    while (trainer.epochs_done() < *options.epochs) trainer.run_epoch([](const nn::StepReport&) { return true; });
  } catch (const Error& error) {
    if (error.fault() != Fault::training) throw;
    all_reduce_sum(communicator, 1);  // throws again where a process was lost, not where the rate was bad
    return {.rate = rate, .diverged = true};
  }
  const nn::Evaluation judged = trainer.evaluate(data.train(), judges);
  if (!std::isfinite(judged.loss)) return {.rate = rate, .diverged = true};
  return {.rate = rate, .loss = judged.loss, .accuracy = judged.accuracy};
}

std::string sentence(const RateTrials& trials, const RateTrial& trial, const NetworkData& data) {
  const std::string name = name_of(trials.option);
  if (trial.diverged) return fmt::format("{} {:g}: the loss became NaN or infinite", name, trial.rate);
  const std::string accuracy = accuracy_text(data.shape().family.value_or(linear::Family::softmax), trial.accuracy);
  return fmt::format("{} {:g}: {} after {} epochs of {} {}, loss {:.4g}", name, trial.rate, accuracy, trials.epochs,
                     trials.images, data.unit(), trial.loss);
}

}  // namespace

const RateTrial& RateTrials::best() const {
  const RateTrial* best = nullptr;
  for (const RateTrial& trial : tried) {
    if (trial.diverged) continue;
    if (best == nullptr || trial.accuracy > best->accuracy ||
        (trial.accuracy == best->accuracy && trial.loss < best->loss)) {
      best = &trial;
    }
  }
  if (best != nullptr) return *best;
  throw Error(Fault::training, fmt::format("the loss became NaN or infinite with every {} tried; {}", name_of(option),
                                           option == Searched::rate ? "name smaller ones with --grid"
                                           : option == Searched::k2 ? "name a smaller --k2 yourself"
                                                                    : "name a smaller --first-rate yourself"));
}

bool RateTrials::best_is_at_an_end() const {
  const auto [least, most] = std::minmax_element(
      tried.begin(), tried.end(), [](const RateTrial& one, const RateTrial& other) { return one.rate < other.rate; });
  return tried.size() > 1 && (best().rate == least->rate || best().rate == most->rate);
}

ordered_json to_json(const RateTrials& trials) {
  ordered_json list = ordered_json::array();
  for (const RateTrial& trial : trials.tried) {
    list.push_back(trial.diverged
                       ? ordered_json{{"rate", trial.rate}, {"diverged", true}}
                       : ordered_json{{"rate", trial.rate}, {"accuracy", trial.accuracy}, {"loss", trial.loss}});
  }
  static constexpr const char* kNames[] = {"first_rate", "rate", "k2"};
  return {{"option", kNames[static_cast<std::size_t>(trials.option)]},
          {"chosen", trials.best().rate},
          {"epochs", trials.epochs},
          {"images", trials.images},
          {"judged_on", trials.judged_on},
          {"tried", list}};
}

bool needs_trials(const TrainOptions& options) {
  return options.policy == Policy::grid || options.search_k2 || options.first_rate.kind == FirstRate::Kind::search;
}

void set_rate(TrainOptions& options, const RateTrials& trials, double rate) {
  if (trials.option == Searched::rate) {
    options.rate = rate;
  } else if (trials.option == Searched::k2) {
    options.rule.initial_k2 = rate;
    options.search_k2 = false;
  } else {
    options.first_rate = {FirstRate::Kind::number, rate};
  }
}

RateTrials try_rates(const TrainOptions& options, const NetworkData& data, const std::vector<Index>& training,
                     const std::string& weights, Communicator* communicator,
                     const std::function<void(const std::string&)>& say) {
  const Searched option = searched_by(options);
  const bool grid = option == Searched::rate;
  if (option == Searched::k2 && options.first_rate.kind == FirstRate::Kind::search) {
    throw Error(Fault::usage, "--k2 search and --first-rate search are two searches; name one of the two numbers");
  }
  if (grid && options.rate) {
    throw Error(Fault::usage, "--rate goes with --policy baseline; --policy grid finds the rate by itself");
  }
  const std::vector<double>& rates = option == Searched::k2 ? kSecondAverages
                                     : !grid                ? kFirstRates
                                     : options.grid.empty() ? kGrid
                                                            : options.grid;
  std::vector<Index> mixed = training;
  Random random(options.seed);
  random.shuffle(std::span(mixed));
  const auto judged = static_cast<std::ptrdiff_t>(std::min(kJudges, mixed.size() / 5));
  const Index asked = grid ? *options.grid_images : kFirstRateImages;
  const Index trained = std::min(asked, static_cast<Index>(mixed.size()) - judged);
  if (judged == 0) throw Error(Fault::usage, fmt::format("there are too few {} for trials of a rate", data.unit()));
  const std::vector<Index> judges(mixed.begin(), mixed.begin() + judged);
  const std::vector<Index> train(mixed.begin() + judged, mixed.begin() + judged + trained);
  RateTrials trials{.option = option,
                    .epochs = grid ? *options.grid_epochs : kFirstRateEpochs,
                    .images = trained,
                    .judged_on = judged};
  TrainOptions trial = options;
  trial.epochs = trials.epochs;
  if (trial.schedule_epochs) trial.schedule_epochs = trials.epochs;
  for (const double rate : rates) {
    set_rate(trial, trials, rate);
    trials.tried.push_back(try_one(trial, rate, data, train, judges, weights, communicator));
    say(sentence(trials, trials.tried.back(), data));
  }
  return trials;
}

void NetworkSession::find_rate() {
  const RateTrials trials = try_rates(options_with_threads(), *data_, training_, request_.weights,
                                      request_.communicator, [&](const std::string& s) { progress_->say(s); });
  const double rate = trials.best().rate;
  set_rate(request_.options, trials, rate);
  if (trials.option != Searched::first_rate) {
    progress_->say(fmt::format("taken: the {} {:g}", name_of(trials.option), rate));
  }
  if (trials.option == Searched::rate && trials.best_is_at_an_end()) {
    result_.remarks.push_back(
        fmt::format("the best rate, {:g}, is at an end of the grid: --grid may have a better one beyond it", rate));
  }
  result_.options = request_.options;
  trials_ = to_json(trials);
}

}  // namespace lipschitzlr::run

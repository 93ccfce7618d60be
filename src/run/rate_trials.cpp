#include "run/rate_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "run/network_running.hpp"

namespace lipschitzlr::run {
namespace {

using nlohmann::ordered_json;

constexpr double kFirstRates[] = {0.1, 0.5, 1};  // the paper's, with its five epochs
constexpr std::int64_t kFirstRateEpochs = 5;
constexpr Index kFirstRateImages = 5120;
constexpr double kGrid[] = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1};
constexpr std::size_t kMostRates = 100;
constexpr std::size_t kJudges = 1000;

NetworkChoice with_rate(NetworkChoice choice, const RateTrials& trials, double rate) {
  choice.epochs = trials.epochs;
  if (choice.schedule_epochs) choice.schedule_epochs = trials.epochs;
  if (trials.option == "rate") {
    choice.rate = rate;
  } else {
    choice.first_rate = fmt::format("{}", rate);
  }
  return choice;
}

RateTrial try_one(const NetworkChoice& choice, double rate, const data::ImageSet& images,
                  const std::vector<Index>& train, const std::vector<Index>& judges, const std::string& weights,
                  Communicator* communicator) {
  nn::Trainer trainer(trainer_options(choice, images), images, train, communicator);
  if (!weights.empty()) trainer.load_weights(weights);
  try {
    while (trainer.epochs_done() < choice.epochs) trainer.run_epoch([](const nn::StepReport&) { return true; });
  } catch (const Error& error) {
    if (error.fault() != Fault::training) throw;
    all_reduce_sum(communicator, 1);  // throws again where a process was lost, not where the rate was bad
    return {.rate = rate, .diverged = true};
  }
  const nn::Evaluation judged = trainer.evaluate(images, judges);
  if (!std::isfinite(judged.loss)) return {.rate = rate, .diverged = true};
  return {.rate = rate, .loss = judged.loss, .accuracy = judged.accuracy};
}

std::string sentence(const RateTrials& trials, const RateTrial& trial) {
  const std::string name = trials.option == "rate" ? "rate" : "first rate";
  if (trial.diverged) return fmt::format("{} {:g}: the loss left the finite numbers", name, trial.rate);
  return fmt::format("{} {:g}: {:.2f} % after {} epochs of {} images, loss {:.4g}", name, trial.rate,
                     trial.accuracy * 100, trials.epochs, trials.images, trial.loss);
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
  throw Error(Fault::training,
              fmt::format("the loss left the finite numbers with every rate tried; {}",
                          option == "rate" ? "name smaller ones with --grid" : "name a smaller --first-rate yourself"));
}

bool RateTrials::best_is_at_an_end() const {
  const auto [least, most] = std::minmax_element(
      tried.begin(), tried.end(), [](const RateTrial& one, const RateTrial& other) { return one.rate < other.rate; });
  return tried.size() > 1 && (best().rate == least->rate || best().rate == most->rate);
}

std::string to_json(const RateTrials& trials) {
  ordered_json list = ordered_json::array();
  for (const RateTrial& trial : trials.tried) {
    list.push_back(trial.diverged
                       ? ordered_json{{"rate", trial.rate}, {"diverged", true}}
                       : ordered_json{{"rate", trial.rate}, {"accuracy", trial.accuracy}, {"loss", trial.loss}});
  }
  return ordered_json{{"option", trials.option}, {"chosen", trials.best().rate},  {"epochs", trials.epochs},
                      {"images", trials.images}, {"judged_on", trials.judged_on}, {"tried", list}}
      .dump();
}

std::vector<double> grid_rates(const std::string& text) {
  if (text.empty()) return {std::begin(kGrid), std::end(kGrid)};
  std::vector<double> rates;
  for (const std::string& part : split(text, ',')) {
    const std::optional<double> rate = number_from(part);
    if (!rate || !(*rate > 0)) {
      throw Error(Fault::usage, fmt::format("--grid {}: expected numbers above 0 with commas between them", text));
    }
    if (std::find(rates.begin(), rates.end(), *rate) != rates.end()) {
      throw Error(Fault::usage, fmt::format("--grid {}: {} is there twice", text, part));
    }
    rates.push_back(*rate);
  }
  if (rates.size() > kMostRates) {
    throw Error(Fault::usage, fmt::format("--grid: {} rates are too many; at most {}", rates.size(), kMostRates));
  }
  return rates;
}

RateTrials try_rates(const NetworkChoice& choice, const data::ImageSet& images, const std::vector<Index>& training,
                     const std::string& weights, Communicator* communicator,
                     const std::function<void(const std::string&)>& say) {
  const bool grid = choice.policy == "grid";
  if (grid && choice.rate) {
    throw Error(Fault::usage, "--rate goes with --policy baseline; --policy grid finds the rate by itself");
  }
  std::vector<double> rates(std::begin(kFirstRates), std::end(kFirstRates));
  if (grid) rates = grid_rates(choice.grid);
  std::vector<Index> mixed = training;
  Random random(choice.seed);
  random.shuffle(std::span(mixed));
  const auto judged = static_cast<std::ptrdiff_t>(std::min(kJudges, mixed.size() / 5));
  const Index asked = grid ? *choice.grid_images : kFirstRateImages;
  const Index trained = std::min(asked, static_cast<Index>(mixed.size()) - judged);
  if (judged == 0) throw Error(Fault::usage, "there are too few images for trials of a rate");
  const std::vector<Index> judges(mixed.begin(), mixed.begin() + judged);
  const std::vector<Index> train(mixed.begin() + judged, mixed.begin() + judged + trained);
  RateTrials trials{.option = grid ? "rate" : "first_rate",
                    .epochs = grid ? *choice.grid_epochs : kFirstRateEpochs,
                    .images = trained,
                    .judged_on = judged,
                    .tried = {}};
  for (const double rate : rates) {
    trials.tried.push_back(
        try_one(with_rate(choice, trials, rate), rate, images, train, judges, weights, communicator));
    say(sentence(trials, trials.tried.back()));
  }
  return trials;
}

void Running::find_rate() {
  const RateTrials trials = try_rates(choice_with_threads(), train_, training_, run_.weights, run_.communicator,
                                      [&](const std::string& s) { progress_->say(s); });
  const double rate = trials.best().rate;
  if (trials.option == "rate") {
    run_.choice.rate = rate;
    progress_->say(fmt::format("taken: the rate {:g}", rate));
    if (trials.best_is_at_an_end()) {
      result_.remarks.push_back(
          fmt::format("the best rate, {:g}, is at an end of the grid: --grid may have a better one beyond it", rate));
    }
  } else {
    run_.choice.first_rate = fmt::format("{}", rate);
  }
  result_.choice = run_.choice;
  result_.trials = to_json(trials);
}

}  // namespace lipschitzlr::run

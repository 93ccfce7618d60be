#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "experiment/judges.hpp"
#include "lipschitzlr/experiment/text_table.hpp"

namespace lipschitzlr::experiment {
namespace {

const char* const kCodedProtocol = "coded";

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

class NetworkJudge {
 public:
  explicit NetworkJudge(const Row& row)
      : row_(row), training_(*row.recipe.network), curve_(authors_curve(training_.curve)) {}

  Verdict verdict() {
    for (const Run& run : row_.runs) {
      if (run.rate_name != kCodedProtocol || run.record->failure.empty()) continue;
      reasons_.push_back(fmt::format("Seed {} failed: {}.", run.seed, run.record->failure));
    }
    if (runs_.empty()) return {"failed", reasons_};
    say_ours();
    const bool complete = epochs_ >= static_cast<std::size_t>(training_.epochs);
    if (departed_) return {"other options", reasons_};
    if (!training_.paper_network.empty()) return other_network();
    const bool artefact = !row_.recipe.artefacts.empty();
    if (curve_ == nullptr && !complete) {
      reasons_.push_back("There is no curve of the authors to compare with before the last epoch.");
      return {artefact ? "artefact" : "no curve", with_artefacts()};
    }
    const bool accurate = compare_accuracy(complete), same_rates = compare_rates();  // both say what they found
    const bool agrees = accurate && same_rates;
    if (artefact) return {"artefact", with_artefacts()};
    return {
        std::string(agrees ? (complete ? "reproduced" : "agrees so far") : (complete ? "differs" : "differs so far")),
        reasons_};
  }

 private:
  void say_ours() {
    for (const Run* run : runs_) {
      reasons_.push_back(best_and_last(*run, fmt::format("Seed {}", run->seed)));
      if (run->record->state == run::RecordState::damaged) {
        reasons_.push_back(fmt::format("The record is damaged: {}", fmt::join(run->record->faults, " ")));
      }
      for (const std::string& departure : departures(row_.recipe, kCodedProtocol, *run->record)) {
        reasons_.push_back(fmt::format("Trained with {}.", departure));
        departed_ = true;
      }
    }
    if (runs_.size() < 2) return;
    reasons_.push_back(fmt::format("Mean of {} trainings: best {}, from {} to {}.", ours_.count,
                                   format_percent(ours_.mean), format_percent(ours_.least),
                                   format_percent(ours_.most)));
  }

  bool compare_accuracy(bool complete) {
    const double theirs = curve_ != nullptr ? best_accuracy(*curve_, epochs_).percent() : training_.paper_accuracy;
    const double tolerance = curve_ != nullptr ? accuracy_tolerance(*curve_, epochs_) : kLeastJump;
    const bool agrees = theirs >= ours_.least - tolerance && theirs <= ours_.most + tolerance;
    reasons_.push_back(fmt::format(
        "{}: {} has {} at best up to epoch {}; the tolerance is {:.1f} percent.", agrees ? "Agrees" : "Differs",
        curve_ != nullptr ? "the authors' curve" : "the paper", format_percent(theirs), epochs_, tolerance));
    if (curve_ != nullptr && complete) say_peak();
    return agrees;
  }

  void say_peak() {
    const double last = 100 * curve_->column("val_accuracy").back();
    if (best_accuracy(*curve_).percent() - last <= kPeakTolerance) return;
    reasons_.push_back(fmt::format("The paper's figure is a peak: the last epoch of the authors' curve has {}.",
                                   format_percent(last)));
  }

  bool compare_rates() {
    bool agrees = true;
    for (const Run* run : runs_) {
      const std::optional<double> ratio = curve_ == nullptr ? std::nullopt : rate_ratio(*run->record, *curve_);
      if (!ratio) continue;
      const bool near = std::abs(*ratio - 1) <= kNetworkRateTolerance;
      agrees &= near;
      reasons_.push_back(fmt::format("{}: our computed rates are {:.2f} times the authors' (median from epoch 2 on).",
                                     near ? "Agrees" : "Differs", *ratio));
    }
    return agrees;
  }

  Verdict other_network() {
    reasons_.push_back(fmt::format("The paper's {} are for another network, {}.",
                                   format_percent(training_.paper_accuracy), training_.paper_network));
    for (const Row& other : row_.compared) {
      for (const Run* run : runs_behind(other, kCodedProtocol)) {
        reasons_.push_back(best_and_last(*run, other.recipe.id(), epochs_));
      }
    }
    return {"another network", reasons_};
  }

  std::vector<std::string> with_artefacts() const {
    std::vector<std::string> sentences;
    for (const std::string& sentence : row_.recipe.artefacts) sentences.push_back("Artefact: " + sentence);
    sentences.insert(sentences.end(), reasons_.begin(), reasons_.end());
    return sentences;
  }

  const Row& row_;
  const NetworkTraining& training_;
  const run::Record* curve_;  // nullptr: the authors left none
  const std::vector<const Run*> runs_ = runs_behind(row_, kCodedProtocol);
  const Spread ours_ = accuracy_of(row_, kCodedProtocol);
  const std::size_t epochs_ = runs_.empty() ? 0 : runs_[0]->record->length();
  bool departed_ = false;
  std::vector<std::string> reasons_;
};

}  // namespace

Verdict judge_network(const Row& row) { return NetworkJudge(row).verdict(); }

std::string best_and_last(const Run& run, const std::string& lead, std::size_t epochs) {
  const std::vector<double>& accuracy = run.record->column("val_accuracy");
  const Peak best = best_accuracy(*run.record, epochs);
  epochs = std::min(epochs, run.record->length());
  const double last = accuracy.empty() ? 0 : accuracy[epochs - 1];
  return fmt::format("{}: best {} in epoch {} of {}, last {}.", lead, format_percent(best.percent()), best.epoch,
                     epochs, format_percent(100 * last));
}

double accuracy_tolerance(const run::Record& curve, std::size_t epochs) {
  const std::vector<double>& accuracy = curve.column("val_accuracy");
  const std::size_t end = std::min(std::max(epochs, kJumpEpochs), accuracy.size());
  const std::size_t begin = end - std::min(end, kJumpEpochs);
  std::vector<double> jumps;
  for (std::size_t i = begin + 1; i < end; ++i) {
    jumps.push_back(100 * std::abs(accuracy[i] - accuracy[i - 1]));
  }
  return std::max(kLeastJump, median_of(jumps).value_or(0));
}

std::optional<double> rate_ratio(const run::Record& record, const run::Record& curve) {
  const std::vector<double>&epochs = record.column("epoch"), &rates = record.column("rate");
  const std::vector<double>& theirs = curve.column("rate");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto epoch = static_cast<std::size_t>(epochs[i]);
    if (epoch < 2 || epoch > theirs.size() || !(theirs[epoch - 1] > 0) || std::isnan(rates[i])) continue;
    ratios.push_back(rates[i] / theirs[epoch - 1]);
  }
  return median_of(ratios);
}

}  // namespace lipschitzlr::experiment

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

// Of ours to theirs, over the epochs from 2 on that both have.
std::optional<double> median_ratio(const std::vector<double>& epochs, const std::vector<double>& ours,
                                   const std::vector<double>& theirs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours.size(), epochs.size()); ++i) {
    const auto epoch = static_cast<std::size_t>(epochs[i]);
    if (epoch < 2 || epoch > theirs.size() || !(theirs[epoch - 1] > 0) || std::isnan(ours[i])) continue;
    ratios.push_back(ours[i] / theirs[epoch - 1]);
  }
  return median_of(ratios);
}

class NetworkJudge {
 public:
  explicit NetworkJudge(const Row& row)
      : row_(row), training_(*row.recipe.network), curve_(authors_curve(training_.curve)) {}

  Verdict verdict() {
    find_failures();
    if (runs_.empty()) return {"failed", reasons_};
    say_ours();
    const bool complete = epochs_ >= static_cast<std::size_t>(training_.epochs);
    if (departed_) return {"other options", reasons_};
    if (!training_.paper_network.empty()) return other_network();
    const bool artefact = !row_.recipe.artefacts.empty();
    std::string word = "no curve";
    if (curve_ == nullptr && !complete) {
      reasons_.push_back("There is no curve of the authors to compare with before the last epoch.");
    } else {
      word = compare(complete);
    }
    if (failed_ > 0) return {"unstable", with_artefacts(), fmt::format("{} of {}", failed_, seeds_)};
    if (artefact) return {"artefact", with_artefacts(), word};
    return {word, reasons_};
  }

 private:
  // A seed that was trained again, and did not fail, counts as that.
  void find_failures() {
    std::map<std::uint64_t, bool> failed;
    for (const Run& run : row_.runs) {
      if (run.rate_name != kCodedProtocol) continue;
      const bool fails = !run.record->failure.empty();
      const auto [seed, first] = failed.try_emplace(run.seed, fails);
      seed->second &= fails;
      if (fails) reasons_.push_back(fmt::format("Seed {} failed: {}.", run.seed, run.record->failure));
    }
    seeds_ = failed.size();
    failed_ = std::count_if(failed.begin(), failed.end(), [](const auto& seed) { return seed.second; });
  }

  // Each says what it found.
  std::string compare(bool complete) {
    bool agrees = compare_accuracy();
    if (complete) agrees &= compare_last();
    agrees &= compare_rates();
    agrees &= compare_losses();
    return agrees ? (complete ? "reproduced" : "agrees so far") : (complete ? "differs" : "differs so far");
  }

  void say_ours() {
    for (const Run* run : runs_) {
      reasons_.push_back(best_and_last(*run, fmt::format("Seed {}", run->seed)));
      if (run->record->state == run::RecordState::damaged) {
        reasons_.push_back(fmt::format("The record is damaged: {}", fmt::join(run->record->faults, " ")));
      }
      if (run->record->option("loss").empty()) {
        reasons_.push_back("Trained by a version without Keras's clipped loss, with the plain one.");
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

  bool compare_accuracy() {
    const double theirs = curve_ != nullptr ? best_accuracy(*curve_, epochs_).percent() : training_.paper_accuracy;
    const double tolerance = curve_ != nullptr ? accuracy_tolerance(*curve_, epochs_) : least_tolerance(theirs);
    const bool agrees = theirs >= ours_.least - tolerance && theirs <= ours_.most + tolerance;
    reasons_.push_back(fmt::format(
        "{}: {} has {} at best up to epoch {}; the tolerance is {:.1f} percent.", agrees ? "Agrees" : "Differs",
        curve_ != nullptr ? "the authors' curve" : "the paper", format_percent(theirs), epochs_, tolerance));
    return agrees;
  }

  // What a best-of-all-epochs figure does not show.
  bool compare_last() {
    if (curve_ == nullptr) return true;
    const double theirs = 100 * curve_->column("val_accuracy").back();
    const Spread ours = last_accuracy_of(row_, kCodedProtocol);
    const double tolerance = accuracy_tolerance(*curve_, epochs_);
    const bool agrees = theirs >= ours.least - tolerance && theirs <= ours.most + tolerance;
    if (best_accuracy(*curve_).percent() - theirs > kPeakTolerance) {
      reasons_.push_back(fmt::format("The paper's figure is a peak: the last epoch of the authors' curve has {}.",
                                     format_percent(theirs)));
    }
    reasons_.push_back(fmt::format("{}: in the last epoch the authors have {}, we have {}.",
                                   agrees ? "Agrees" : "Differs", format_percent(theirs), format_percent(ours.mean)));
    return agrees;
  }

  bool compare_losses() {
    std::vector<double> ratios;
    for (const Run* run : runs_) {
      const std::optional<double> ratio = curve_ == nullptr ? std::nullopt : loss_ratio(*run->record, *curve_);
      if (ratio) ratios.push_back(*ratio);
    }
    if (ratios.empty()) return true;
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    const bool agrees = *least <= 1 + kNetworkLossTolerance && *most >= 1 - kNetworkLossTolerance;
    reasons_.push_back(fmt::format(
        "{}: our training loss is {} times the authors' (median from epoch 2 on).", agrees ? "Agrees" : "Differs",
        ratios.size() == 1 ? fmt::format("{:.2f}", *least) : fmt::format("{:.2f} to {:.2f}", *least, *most)));
    return agrees;
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
  std::size_t seeds_ = 0;
  std::ptrdiff_t failed_ = 0;
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
  return std::max(least_tolerance(best_accuracy(accuracy, end).percent()), median_of(jumps).value_or(0));
}

double least_tolerance(double percent) {
  const double share = percent / 100;
  return 200 * std::sqrt(2 * share * (1 - share) / kTestImages);
}

std::optional<double> rate_ratio(const run::Record& record, const run::Record& curve) {
  return median_ratio(record.column("epoch"), record.column("rate"), curve.column("rate"));
}

std::optional<double> loss_ratio(const run::Record& record, const run::Record& curve) {
  std::vector<double> losses = record.column("loss");
  const std::vector<double>& penalties = record.column("penalty");
  for (std::size_t i = 0; i < std::min(losses.size(), penalties.size()); ++i) {
    if (std::isfinite(penalties[i])) losses[i] += penalties[i];
  }
  return median_ratio(record.column("epoch"), losses, curve.column("loss"));
}

}  // namespace lipschitzlr::experiment

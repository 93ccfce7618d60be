#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "experiment/judges.hpp"
#include "lipschitzlr/experiment/text_table.hpp"

namespace lipschitzlr::experiment {
namespace {

const char* const kCoded = "coded";
const char* const kBaseline = "baseline";

enum class Agreement { yes, no, unknown };

std::string text_of(const Spread& spread, std::string (*format)(double)) {
  const std::string least = format(spread.least), most = format(spread.most);
  return least == most ? least : fmt::format("{} to {}", least, most);
}

Agreement within(double figure, double least, double most) {
  return figure >= least && figure <= most ? Agreement::yes : Agreement::no;
}

class LinearJudge {
 public:
  explicit LinearJudge(const Row& row) : row_(row), recipe_(*row.recipe.linear) {}

  Verdict verdict() {
    unknown_ = row_.interrupted;
    look_for_artefacts();
    const bool artefact = !reasons_.empty();
    compare_rate();
    compare_figure("with the rate 0.1", recipe_.paper.baseline, kBaseline);
    compare_figure("with 1/L as coded", recipe_.paper.computed, kCoded);
    compare_order();
    compare_losses();
    say_last();
    const std::string word = differs_ ? "differs" : unknown_ ? "cut short" : "reproduced";
    if (artefact) return {"artefact", reasons_, word};
    if (differs_ || unknown_) return {word, reasons_};
    reasons_.insert(reasons_.begin(),
                    "Reproduced: every figure of the paper lies within ours over the seeds and the "
                    "tolerances of the rules.");
    return {"reproduced", reasons_};
  }

 private:
  void look_for_artefacts() {
    if (recipe_.counts_iterations()) {
      const double threshold = *recipe_.threshold;
      if (std::abs(threshold / row_.zero_loss - 1) <= kThresholdTolerance) {
        reasons_.push_back(
            fmt::format("Artefact: the threshold {:.8g} is the loss before training; weights that are all zero have "
                        "{:.8g}. The counts say how soon the random start is forgotten, not how soon the model learns.",
                        threshold, row_.zero_loss));
      }
      if (std::isnan(row_.naive_loss)) {
        reasons_.push_back(fmt::format(
            "Artefact: after {:.0f} update(s) with 1/L, a loss written as -y log(p) is not a number, which ends a loop "
            "that runs while loss >= T. The loss is in truth still above T.",
            recipe_.paper.computed - 1));
      }
    } else if (std::abs(recipe_.paper.computed - 100 * row_.majority) <= kMajorityTolerance) {
      reasons_.push_back(
          fmt::format("Artefact: {} % is the share of the largest class ({:.2f} % of these rows), which "
                      "a constant predictor reaches.",
                      recipe_.paper.computed, 100 * row_.majority));
    }
  }

  void compare_rate() {
    const Spread ours = rate_of(row_, kCoded);
    if (ours.count == 0) return;
    const double least = rate_for_paper_rows(row_, ours.least), most = rate_for_paper_rows(row_, ours.most);
    if (within(recipe_.paper.rate, least * (1 - kRateTolerance), most * (1 + kRateTolerance)) == Agreement::no) {
      disagree("1/L", format_rate(recipe_.paper.rate), text_of(ours, format_rate));
    }
    if (std::abs(static_cast<double>(row_.rows) / static_cast<double>(recipe_.paper.rows) - 1) < kRowsTolerance) return;
    if (least != ours.least) {
      reasons_.push_back(
          fmt::format("Trained on {} rows where the paper had {}: 1/L grows as rows^1.5, and ours comes "
                      "to {} for the paper's number of rows.",
                      format_count(static_cast<double>(row_.rows)),
                      format_count(static_cast<double>(recipe_.paper.rows)), format_rate(least)));
    } else {
      reasons_.push_back(fmt::format("Trained on {} rows where the paper had {}.",
                                     format_count(static_cast<double>(row_.rows)),
                                     format_count(static_cast<double>(recipe_.paper.rows))));
    }
  }

  void compare_figure(const std::string& what, double paper, const std::string& rate_name) {
    const bool counts = recipe_.counts_iterations();
    const Spread ours = counts ? iterations_of(row_, rate_name) : accuracy_of(row_, rate_name);
    if (ours.count == 0) return;
    const bool shortened = !counts && row_.epochs != *recipe_.epochs;
    const double tolerance = accuracy_tolerance(row_, paper);
    const double below = counts ? ours.least * (1 - kCountTolerance) : ours.least - tolerance;
    const double above = counts ? ours.most * (1 + kCountTolerance) : ours.most + tolerance;
    // A count that was cut short is only known to be larger: a smaller one in the paper still disagrees.
    if (shortened || (!ours.complete && (!counts || paper >= below))) {
      unknown_ = true;
      return;
    }
    if (within(paper, below, above) == Agreement::yes) return;
    const std::string name = fmt::format("{} {}", counts ? "iterations" : "accuracy", what);
    const auto format = counts ? format_count : format_percent;
    disagree(name, format(paper), (ours.complete ? "" : "more than ") + text_of(ours, format));
  }

  // Single figures can agree by their wide spread while the paper's finding, which rate is better, does not hold.
  void compare_order() {
    const Spread baseline = accuracy_of(row_, kBaseline), coded = accuracy_of(row_, kCoded);
    if (recipe_.counts_iterations() || unknown_ || std::min(baseline.count, coded.count) == 0) return;
    const double paper = recipe_.paper.computed - recipe_.paper.baseline, ours = coded.mean - baseline.mean;
    if (paper * ours >= 0 || std::abs(ours) <= accuracy_tolerance(row_, recipe_.paper.computed, coded.count)) return;
    differs_ = true;
    reasons_.push_back(fmt::format(
        "Differs: the order is reversed: the paper has {} with 0.1 and {} with 1/L, we measure {} and {}, means of {}.",
        format_percent(recipe_.paper.baseline), format_percent(recipe_.paper.computed), format_percent(baseline.mean),
        format_percent(coded.mean), counted(coded.count, "seed")));
  }

  // The quiet signal: trainings that only end alike have other losses on their way.
  void compare_losses() {
    for (std::size_t epoch = 0; epoch < recipe_.paper.losses.size(); ++epoch) {
      double least = std::numeric_limits<double>::infinity(), most = -least;
      for (const Run* run : runs_behind(row_, kCoded)) {
        if (epoch >= run->epoch_losses.size()) continue;
        least = std::min(least, run->epoch_losses[epoch]);
        most = std::max(most, run->epoch_losses[epoch]);
      }
      const double theirs = recipe_.paper.losses[epoch];
      if (least > most) {
        unknown_ = true;
        return;
      }
      const bool agrees = theirs >= least * (1 - kLossTolerance) && theirs <= most * (1 + kLossTolerance);
      differs_ |= !agrees;
      reasons_.push_back(
          fmt::format("{}: the loss of epoch {} is {:.3f} in the authors' notebook, {:.3f} to {:.3f} here.",
                      agrees ? "Agrees" : "Differs", epoch + 1, theirs, least, most));
    }
  }

  void say_last() {
    if (!recipe_.best_epoch) return;
    for (const char* const name : {kBaseline, kCoded}) {
      const Spread best = accuracy_of(row_, name), last = last_accuracy_of(row_, name);
      if (best.count == 0) continue;
      reasons_.push_back(fmt::format("With {} the best of {} epochs is {}, the last {}.",
                                     name == kCoded ? "1/L" : "the rate 0.1", row_.epochs,
                                     text_of(best, format_percent), text_of(last, format_percent)));
    }
  }

  void disagree(const std::string& what, const std::string& paper, const std::string& ours) {
    differs_ = true;
    reasons_.push_back(fmt::format("Differs: {}: the paper has {}, we measure {}.", what, paper, ours));
  }

  const Row& row_;
  const LinearTraining& recipe_;
  std::vector<std::string> reasons_;
  bool differs_ = false, unknown_ = false;
};

}  // namespace

Verdict judge_linear(const Row& row) { return LinearJudge(row).verdict(); }

double accuracy_tolerance(const Row& row, double percent, int seeds) {
  if (!row.judged_held_out_rows || row.judged_rows == 0) return kAccuracyTolerance;
  const double share = percent / 100;
  const double error = 100 * std::sqrt(share * (1 - share) / static_cast<double>(row.judged_rows * seeds));
  return std::max(kAccuracyTolerance, 2 * error);
}

double rate_for_paper_rows(const Row& row, double rate) {
  const LinearTraining& recipe = *row.recipe.linear;
  const bool grows = recipe.family == linear::Family::logistic && recipe.scaling == data::Scaling::column_sum;
  if (!grows || row.rows == recipe.paper.rows) return rate;
  return rate * std::pow(static_cast<double>(recipe.paper.rows) / static_cast<double>(row.rows), 1.5);
}

}  // namespace lipschitzlr::experiment

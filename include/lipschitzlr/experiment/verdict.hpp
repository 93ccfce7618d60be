#pragma once
// What a row's figures say about the paper's, by fixed rules and never by hand. A row on a linear model is
//   artefact    when its threshold is the loss of weights that are all zero (within 1 %), when a plain script's loss is
//               not a number where the paper stopped counting, or when its accuracy is the share of the largest class;
//   reproduced  when every figure of the paper lies within ours over the seeds, give or take the tolerances below;
//   differs     when one does not, or when the better of the two rates by mean accuracy is the worse one of the paper;
//   cut short   when the time did not suffice to say.
// The verdict on a network rests on the protocol coded, which made the tables. With n epochs done, the best accuracy of
// ours up to n is compared with the best of the authors' curve up to n, the median ratios of our computed rates and of
// our training losses, penalty included as in Keras's, to theirs (from epoch 2 on, where the start is forgotten) with 1
// and, when all epochs are done, the last accuracies. A row is
//   unstable          when the loss of some seeds became NaN or infinite: "unstable: 1 of 3"
//   artefact          when its recipe says why it is one, with the verdict of the comparison: "artefact: reproduced"
//   reproduced        when all epochs are done and all agree within the tolerances below; differs when not
//   agrees so far     the same with fewer epochs than the paper's; differs so far
//   no curve          when there is nothing to compare with before all epochs are done
//   another network   when the paper quotes its figure from elsewhere, for a network other than the one trained
//   other options     when it was trained otherwise than the recipe says
//   failed            when the loss of every training became NaN or infinite
// Any row is "not run" when nothing was measured, and "no data" when that is because its data are not available.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/experiment/curve.hpp"
#include "lipschitzlr/experiment/row.hpp"

namespace lipschitzlr::experiment {

inline constexpr double kRateTolerance = 0.01;   // a share of 1/L: the paper prints four digits
inline constexpr double kCountTolerance = 0.05;  // a share of the iterations: the starts are drawn at random
// Percent of the rows judged; for rows held out at random two standard errors of their number when that is more.
inline constexpr double kAccuracyTolerance = 1;
inline constexpr double kLossTolerance = 0.03;  // a share of an epoch's mean loss, of linear models
inline constexpr double kThresholdTolerance = 0.01;
inline constexpr double kRowsTolerance = 0.01;     // a share of the rows trained on: fewer missing are not worth a word
inline constexpr double kMajorityTolerance = 0.1;  // percent of the rows

// An epoch's accuracy jumps: the tolerance is the median jump of the authors' curve from epoch to epoch over the eight
// epochs up to n, which one collapse does not widen, and at least two standard errors of the difference of two
// accuracies on the test images: 0.2 percent at 99.5 %, 1.2 at 75 %.
inline constexpr double kTestImages = 10000;  // of MNIST and CIFAR
inline constexpr std::size_t kJumpEpochs = 8;
inline constexpr double kNetworkLossTolerance = 0.05;  // of the median ratio
inline constexpr double kNetworkRateTolerance = 0.25;  // of the median ratio
inline constexpr double kPeakTolerance = 1;            // percent between best and last epoch worth a word

struct Verdict {
  std::string word;
  std::vector<std::string> reasons;  // sentences with the figures they rest on
  std::string detail = {};           // "1 of 3" of unstable seeds; of an artefact, what the comparison says

  std::string text() const { return detail.empty() ? word : word + ": " + detail; }
};

Verdict judge(const Row& row);

// The reasons of the verdict, then what else a reader of the row must know: what was cut short, the recipe's caveats.
std::vector<std::string> notes_of(const Row& row);

// How far an accuracy of the paper, in percent, may lie from ours, or from the mean of ours over so many seeds.
double accuracy_tolerance(const Row& row, double percent, int seeds = 1);

// The rate the paper's number of rows would give, from ours; the same when the rows are the same. Only for logistic
// regression on columns that sum to 1, where ||X||_F falls as m^(-1/2) and 1/L = 2m/||X||_F grows as m^(3/2); else the
// rate as it is.
double rate_for_paper_rows(const Row& row, double rate);

// Percent: how far our best may lie from the curve's at an epoch, and what is the least for an accuracy in percent.
double accuracy_tolerance(const run::Record& curve, std::size_t epochs);
double least_tolerance(double percent);

// The median of our rate over theirs, epochs 2 to the last of both; none when the curve has no rates or one epoch.
std::optional<double> rate_ratio(const run::Record& record, const run::Record& curve);
// The same of the training losses.
std::optional<double> loss_ratio(const run::Record& record, const run::Record& curve);

}  // namespace lipschitzlr::experiment

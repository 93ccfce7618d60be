#pragma once
// What a row's figures say about the paper's, by fixed rules and never by hand. A row is
//   artefact    when its threshold is the loss of weights that are all zero (within 1 %), when a plain script's loss is
//               not a number where the paper stopped counting, or when its accuracy is the share of the largest class;
//   reproduced  when every figure of the paper lies within ours over the seeds, give or take the tolerances below;
//   differs     when one does not, or when the better of the two rates by mean accuracy is the worse one of the paper.

#include <string>
#include <vector>

#include "lipschitzlr/experiment/runner.hpp"

namespace lipschitzlr::experiment {

inline constexpr double kRateTolerance = 0.01;   // a share of 1/L: the paper prints four digits
inline constexpr double kCountTolerance = 0.05;  // a share of the iterations: the starts are drawn at random
// Percent of the rows judged; for rows held out at random two standard errors of their number when that is more.
inline constexpr double kAccuracyTolerance = 1;
inline constexpr double kThresholdTolerance = 0.01;
inline constexpr double kRowsTolerance = 0.01;     // a share of the rows trained on: fewer missing are not worth a word
inline constexpr double kMajorityTolerance = 0.1;  // percent of the rows

struct Verdict {
  std::string word;                  // reproduced, differs, artefact, cut short, not run, not at hand
  std::vector<std::string> reasons;  // sentences with the figures they rest on
};

Verdict judge(const RowResult& result);

// How far an accuracy of the paper, in percent, may lie from ours, or from the mean of ours over so many seeds.
double accuracy_tolerance(const RowResult& result, double percent, int seeds = 1);

// The rate the paper's number of rows would give, from ours; the same when the rows are the same. Only for logistic
// regression on columns that sum to 1, where ||X||_F falls as m^(-1/2) and 1/L = 2m/||X||_F grows as m^(3/2); else the
// rate as it is.
double rate_for_paper_rows(const RowResult& result, double rate);

}  // namespace lipschitzlr::experiment

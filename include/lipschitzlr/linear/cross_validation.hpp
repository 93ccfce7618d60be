#pragma once
// lambda of the penalty lambda (share ||w||_1 + (1-share)/2 ||w||^2) chosen by the rows; share is FitOptions::l1_share.
// The rows are dealt into folds, class by class. Without each fold in turn a model is trained along a falling path of
// lambdas, every one from the weights of the one before, and its loss on the fold is measured. The path is the same for
// all folds. L2 alone: from beta, the constant of the gradient without a penalty, at which even the best determined
// direction is halved, down to 1e-8 of it. With L1: from the smallest lambda at which all weights are 0,
//   max_j |g_j| / share,   g the gradient where the intercept alone is trained,
// down to 1e-4 of it, or to 1e-2 with more columns than rows: there too many weights fit the rows perfectly. The
// first fold ends the path for all where its last values hardly differ, or are all a tenth above its lowest. Unless
// folds are asked for, large problems have one split: four fifths train, and the rest is measured in five parts.
// Least squares of dense rows are solved for all lambdas of a fold from Gram matrices taken once; the curve is the
// same.

#include <cstdint>
#include <functional>
#include <vector>

#include "lipschitzlr/linear/fit.hpp"

namespace lipschitzlr::linear {

struct PathOptions {
  int folds = 0;    // 0: five, and one split of a large problem; fewer rows make fewer folds
  int values = 30;  // lambdas at most, at least 2
  std::uint64_t seed = 1;
};

struct PathPoint {
  double lambda;
  double loss;            // of the family, without the penalty, over the rows held out
  double standard_error;  // of that mean, from how the folds differ
};

struct PenaltyPath {
  std::vector<PathPoint> points;  // lambda falling
  std::size_t best = 0;           // the lowest loss
  std::size_t sparing = 0;        // the largest lambda whose loss is within one standard error of the lowest
  int folds = 0;                  // 1: one split
};

// options.penalty is part of every model: what is chosen is added to it. Dense rows that take more bytes than
// options.most_held are read where they are, and no fold of them is copied. With a communicator every process passes
// rows of its own, and all get the path of all rows. `going` is asked between two trainings; once it says no, Error
// (interrupted) is thrown. Throws Error (data) for fewer than two rows, Error (usage) unless 0 <= l1_share <= 1.
template <class Scalar>
PenaltyPath cross_validate(const data::TableView& training, Family family, const FitOptions& options,
                           const PathOptions& path, ThreadPool& pool, Communicator* communicator = nullptr,
                           const std::function<bool()>& going = {});

}  // namespace lipschitzlr::linear

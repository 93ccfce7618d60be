#pragma once
// The factor of the penalty, chosen by the loss on rows that were not trained on. Along a path of factors from the
// largest down, each begun from the solution before, the rows of every fold in turn are held out, class by class; of
// large problems only the first fold's. The path ends early when the loss has risen well past its minimum. The same
// choice for any number of threads, and in every process.

#include <cstdint>
#include <optional>
#include <vector>

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

struct PathOptions {
  Index folds = 5;
  Index values = 30;
  std::optional<bool> one_split = {};  // hold out one fold only; by default by the number of weights and values
  std::uint64_t seed = 1;              // of the folds
  SolverOptions solver = {.gap_tolerance = 1e-4};
};

struct PathPoint {
  double factor;  // of the penalty
  double loss;    // without penalty, on the rows held out: the mean over the folds
  double error;   // its standard error: over the folds, or with one split over the rows
};

struct Path {
  std::vector<PathPoint> points;  // factors descending
  std::size_t best = 0;           // the smallest loss
  std::size_t plainest = 0;       // the largest factor whose loss is within one standard error of it
  Index splits = 0;               // how many times rows were held out: the folds, or 1
  std::int64_t fits = 0;          // problems solved

  double factor() const { return points[best].factor; }
};

// The path of l2, with the problem's other penalties as they are: from ten times the smoothness constant of the loss,
// where all but the mean has been shrunk away, down eight decades. Collective. Throws Error (data) when there are fewer
// rows than folds, Error (usage) when the options make no sense.
template <class Scalar>
Path cross_validate(const Problem<Scalar>& problem, const PathOptions& options = {});

}  // namespace lipschitzlr::linear

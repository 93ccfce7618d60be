#pragma once
// One training of a linear model from start to end: problem, rate, solver, progress, record, model; and the account of
// it, with the lines that keep it honest.

#include <limits>
#include <optional>
#include <string>

#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/linear/model.hpp"
#include "lipschitzlr/linear/solver.hpp"
#include "lipschitzlr/run/prepare.hpp"
#include "lipschitzlr/run/progress.hpp"

namespace lipschitzlr::run {

struct TrainingChoice {
  std::string solver = "accelerated";  // gd, accelerated, sgd, adamo, rmsprop, auto-adam, lbfgs
  std::string rate = "auto";      // a number, published, coded, certified, gradient; auto: by trial (linear/advice.hpp)
  linear::SolverOptions options;  // algorithm, rate and constant are filled in from the two above
  bool random_start = false;      // w0 ~ N(0, 1) instead of zero
  bool single_precision = false;
  unsigned threads = 0;  // 0: all cores, shared evenly by the processes of a team on one machine
  std::string resume;    // a model file of an unfinished run; empty: start anew
  std::string record;    // a folder for the run's record; empty: none
  Verbosity verbosity = Verbosity::silent;
  bool watch = false;                     // plots of loss and rate
  std::vector<std::string> command = {};  // the words of the command line, for the record
};

struct TrainingResult {
  linear::Model model;
  linear::Progress last;
  linear::Stop stop = linear::Stop::epochs;
  linear::RunChecks checks;
  std::string rate_source;  // "gradient: sigma_max(X)^2/4m", "0.1, as given"
  std::string advice;       // why, when the rate was left to us
  linear::Metrics train;
  std::optional<linear::Metrics> test;
  std::string record_failure;  // why the record is not complete; empty when it is, or none was wanted
};

// Throws Error (usage) for choices that do not fit one another; needs no data, so it can be asked first.
void check(const TrainingChoice& choice);

// Checks the choice first. A run that left the finite numbers returns with stop = not_finite
// and the last finite weights in the model. With a team every process prepares the same data and keeps its share of the
// training rows; the file to resume from is read, and record, progress, metrics and what else a model file holds beside
// weights are made, in rank 0 alone. Throws Error in every process when their data or choices differ.
TrainingResult train(const DataChoice& data, const Prepared& prepared, const TrainingChoice& choice,
                     Communicator* communicator = nullptr);

// The measures that fit the family, as a JSON object.
std::string to_json(const linear::Metrics& metrics, linear::Family family);

}  // namespace lipschitzlr::run

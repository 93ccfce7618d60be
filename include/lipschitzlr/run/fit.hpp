#pragma once
// One training of a linear model from start to end: problem, rate, solver, progress, record, model; and what came out,
// with the checks that the theory's promises were kept.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/linear/cross_validation.hpp"
#include "lipschitzlr/linear/evaluation.hpp"
#include "lipschitzlr/linear/model.hpp"
#include "lipschitzlr/linear/solver.hpp"
#include "lipschitzlr/run/prepare.hpp"

namespace lipschitzlr::run {

struct ChosenPenalty {
  std::string flags;    // that set it to a number: "--l2", "--elastic-net 0.5 --lambda"
  double l1_share = 0;  // of the lambdas of the path
  linear::PenaltyPath path;
  double seconds = 0;
};

// What early stopping has kept.
struct KeptWeights {
  Index rows = 0;          // held out
  std::int64_t epoch = 0;  // after which the weights were
  double loss = 0;         // of those rows, the lowest
};

struct FitResult {
  linear::Model model;
  linear::Progress last;
  linear::Stop stop = linear::Stop::epochs;
  linear::RunChecks checks;
  linear::Choice choice;     // the solver, and why
  std::string verdict;       // how near the optimum, or why that is not known
  double certified_gap = 0;  // as a share of the loss; infinite when nothing is proven
  double condition = 0;      // of the Hessian; NaN where it is not computed
  double l1 = 0, l2 = 0;     // of the penalty, as given or chosen
  std::optional<ChosenPenalty> chosen_penalty;
  std::optional<KeptWeights> kept;  // with early stopping
  Index weights_not_zero = 0;       // features with a weight that is not 0: what an L1 penalty has kept
  double seconds = 0;               // with the choice of the penalty
  std::vector<double> bytes_read;   // Prepared::bytes_read
  std::string rate_source;  // "gradient: sigma_max(X)^2/4m", "0.1, as given"; empty when the solver takes no rate
  std::string advice;       // why, when the rate was left to us
  linear::Metrics train;
  std::optional<linear::Evaluation> test;
  std::vector<std::string> remarks;   // constant and collinear columns, ill-conditioning, a separating direction
  std::vector<std::string> warnings;  // not converged, or nothing learnt: what it is and what to do
  std::string summary;                // all of that as a JSON object
  std::string record_failure;         // why the record is not complete; empty when it is, or none was wanted
};

// Whether the training has a penalty, given or chosen; categories then keep all their levels (EncoderOptions).
bool has_penalty(const FitRequest& options);

// Throws Error (usage) for options that do not fit one another; needs no data, so it can be asked first.
void check(const FitRequest& options);

// prepared: what prepare() made of options.data; a penalty that is left to us is chosen here. A run whose loss
// became NaN or infinite returns with stop = not_finite and the last finite weights in the model. With several
// processes each has rows of its own; the file to resume from is read, and record, progress, metrics and what else a
// model file holds beside weights are made, in rank 0 alone. Throws Error in every process when their options differ.
FitResult fit(const FitRequest& options, Prepared prepared, Communicator* communicator = nullptr);

// The measures that fit the family, by their names in JSON.
std::map<std::string, double> figures_of(const linear::Metrics& metrics, linear::Family family);

}  // namespace lipschitzlr::run

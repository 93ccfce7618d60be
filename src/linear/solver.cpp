#include "lipschitzlr/linear/solver.hpp"

#include <fmt/format.h>

#include <cmath>

#include "linear/rate_solver.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/coordinate.hpp"
#include "lipschitzlr/linear/fista.hpp"
#include "lipschitzlr/linear/lbfgs.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kPerfect = 0.1;  // a share of the loss that no tolerance allows: rounding is all that is left of it

void check(const SolverOptions& options) {
  const auto expect = [](bool holds, const std::string& sentence) {
    if (!holds) throw Error(Fault::usage, sentence);
  };
  expect(!options.rate || (std::isfinite(*options.rate) && *options.rate > 0), "the rate must be a number above 0");
  expect(options.batch >= 0, "the batch size must not be negative");
  expect(options.epochs >= 0, "the number of epochs must not be negative");
  expect(options.relative_tolerance >= 0 && options.gradient_tolerance >= 0 && options.gap_tolerance >= 0,
         "a tolerance must not be negative");
  expect(options.solver != Solver::accelerated || options.batch == 0,
         "the accelerated solver works on all rows; leave the batch size out or take sgd");
  expect(options.patience >= 0, "the patience must not be negative");
  expect(
      options.patience == 0 || takes_rate(options.solver),
      fmt::format("the solver {} has no early stopping: it ends at the optimum; take sgd", to_string(options.solver)));
  expect(options.patience == 0 || options.held_out, "early stopping needs the loss of rows held out");
  expect(takes_rate(options.solver) || (!options.rate && options.batch == 0),
         fmt::format("the solver {} takes neither a rate nor a batch size; take gd or sgd", to_string(options.solver)));
}

void check(const Penalty& penalty, Solver solver) {
  if (solver == Solver::coordinate && !penalty.tikhonov.empty()) {
    throw Error(Fault::usage, "the solver coordinate minimises L1 and L2, not Tikhonov's; take auto");
  }
  if (penalty.l1 == 0) return;
  if (!(std::isfinite(penalty.l1) && penalty.l1 > 0)) {
    throw Error(Fault::usage, fmt::format("the L1 penalty is {}; it must be a finite number, 0 or above", penalty.l1));
  }
  if (!penalty.tikhonov.empty()) throw Error(Fault::usage, "an L1 penalty goes with L2, not with Tikhonov's");
  if (!takes_l1(solver)) {
    throw Error(Fault::usage, fmt::format("the solver {} can't minimise an L1 penalty; take coordinate, fista or auto",
                                          to_string(solver)));
  }
}

// In one line: how near the optimum, or why nobody knows.
template <class Scalar>
std::string verdict_of(const Problem<Scalar>& problem, const Outcome<Scalar>& outcome) {
  if (outcome.stop == Stop::separable) {
    return "no optimum: the classes are separable, and without a penalty the loss falls to 0 as the weights grow; add "
           "an L2 penalty";
  }
  if (std::isfinite(outcome.certified_gap)) {
    return certified_verdict(outcome.certified_gap, outcome.last.loss, outcome.stop == Stop::certified);
  }
  if (takes_rate(outcome.choice.solver)) {
    return fmt::format("not certified: the solver {} computes no bound; take newton or lbfgs",
                       to_string(outcome.choice.solver));
  }
  return problem.setup().penalty.empty() ? "not certified: without a penalty only newton proves the optimum, and only "
                                           "where no column follows from others; "
                                           "an L2 penalty, however small, proves it"
                                         : "not certified: the weights are too far from the optimum for a bound";
}

}  // namespace

std::string certified_verdict(double gap, double loss, bool at_optimum) {
  if (loss == 0 || (at_optimum && gap > kPerfect * std::abs(loss))) {
    return "a perfect fit: the loss is 0 to rounding (certified)";
  }
  return fmt::format("within {:.2g} of the optimum (certified)", certified_share(gap, loss));
}

double certified_share(double gap, double loss) { return gap == 0 ? 0 : gap / std::abs(loss); }

template <class Scalar>
Outcome<Scalar> solve(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                      const Observer& observer) {
  check(options);
  check(problem.setup().penalty, options.solver);
  const Choice choice =
      options.solver == Solver::automatic ? choose_solver(shape_of(problem)) : Choice{options.solver, "as asked for"};
  if (problem.setup().clipped && !takes_rate(choice.solver)) {
    throw Error(Fault::usage,
                fmt::format("the solver {} can't minimise a clipped loss, which is not convex; take gd or sgd",
                            to_string(choice.solver)));
  }
  SolverOptions chosen = options;
  chosen.solver = choice.solver;
  const auto run = choice.solver == Solver::newton       ? solve_newton<Scalar>
                   : choice.solver == Solver::lbfgs      ? solve_lbfgs<Scalar>
                   : choice.solver == Solver::coordinate ? solve_coordinate<Scalar>
                   : choice.solver == Solver::fista      ? solve_fista<Scalar>
                                                         : solve_by_rate<Scalar>;
  Outcome<Scalar> outcome = run(problem, chosen, std::move(start), observer);
  outcome.choice = choice;
  outcome.verdict = verdict_of(problem, outcome);
  return outcome;
}

std::string to_string(Recompute recompute) {
  static constexpr const char* kNames[] = {"never", "epoch", "batch"};
  return kNames[static_cast<std::size_t>(recompute)];
}

std::string to_string(Stop stop) {
  static constexpr const char* kSentences[] = {
      "the loss fell below the threshold",
      "the gradient is within the tolerance",
      "the loss has stopped changing",
      "all epochs are done",
      "the time is up",
      "interrupted",
      "the loss is no longer finite",
      "the loss is proven to be within the tolerance of the optimum",
      "the classes are separable, so without a penalty there is no optimum; add one",
      "the loss of the rows held out has stopped falling",
  };
  return kSentences[static_cast<std::size_t>(stop)];
}

template Outcome<float> solve(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

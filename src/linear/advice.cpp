#include "lipschitzlr/linear/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kMostWork = 2e9;  // multiplications, about a second

template <class Scalar>
int trial_steps(const Problem<Scalar>& problem) {
  const double stored = std::visit(
      [](const auto& matrix) {
        if constexpr (requires {
                        matrix.nonZeros();
                        matrix.outerIndexPtr();
                      }) {
          return static_cast<double>(matrix.nonZeros());
        } else {
          return static_cast<double>(matrix.size());
        }
      },
      problem.matrix());
  const double work =
      2 * all_reduce_sum(problem.communicator(), stored) * static_cast<double>(problem.zero_weights().cols());
  return static_cast<int>(std::clamp(kMostWork / work, 20.0, 200.0));
}

template <class Scalar>
double trial_loss(const Problem<Scalar>& problem, double rate, int steps) {
  SolverOptions options;
  options.solver = Solver::gd;
  options.rate = rate;
  options.epochs = steps;
  const Outcome<Scalar> outcome = solve(problem, options, State<Scalar>{});
  return outcome.stop == Stop::not_finite ? std::numeric_limits<double>::infinity() : outcome.last.loss;
}

std::string reason_for(const Trial& best, const std::vector<Trial>& trials, int steps) {
  const auto gradient = std::find_if(trials.begin(), trials.end(),
                                     [](const Trial& trial) { return trial.kind == ConstantKind::gradient; });
  if (best.kind == ConstantKind::gradient) {
    return fmt::format(
        "{} trial steps from zero brought the lowest loss, {:.6g}, and 1/beta is proven to lower the loss at "
        "every full step",
        steps, best.loss);
  }
  return fmt::format(
      "{} trial steps from zero brought the lowest loss, {:.6g} against {:.6g} with 1/beta; no proof "
      "covers it, so look at the count of steps that raised the loss",
      steps, best.loss, gradient->loss);
}

}  // namespace

template <class Scalar>
Advice advise(const Problem<Scalar>& problem) {
  Advice advice;
  advice.steps = trial_steps(problem);
  // The guaranteed one comes first: it wins a tie.
  for (ConstantKind kind :
       {ConstantKind::gradient, ConstantKind::published, ConstantKind::coded, ConstantKind::certified}) {
    if (!problem.has_constant(kind)) continue;
    const double rate = problem.constant(kind).rate();
    const auto same = [&](const Trial& trial) { return trial.rate == rate; };
    if (!std::isfinite(rate) || std::any_of(advice.trials.begin(), advice.trials.end(), same)) continue;
    advice.trials.push_back({kind, rate, trial_loss(problem, rate, advice.steps)});
  }
  if (advice.trials.empty()) {
    throw Error(Fault::data, "every feature is zero in every row: there is nothing to learn from");
  }
  const auto by_loss = [](const Trial& a, const Trial& b) { return a.loss < b.loss; };
  const Trial& best = *std::min_element(advice.trials.begin(), advice.trials.end(), by_loss);
  advice.kind = best.kind;
  advice.reason = reason_for(best, advice.trials, advice.steps);
  return advice;
}

template Advice advise(const Problem<float>&);
template Advice advise(const Problem<double>&);

}  // namespace lipschitzlr::linear

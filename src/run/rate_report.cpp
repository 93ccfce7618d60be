#include "lipschitzlr/run/rate_report.hpp"

#include <algorithm>
#include <cmath>

#include "lipschitzlr/bound/descent.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::run {
namespace {

constexpr int kReferenceIterations = 500;

void add_inputs(std::vector<bound::Input>& inputs, const bound::Constant& constant) {
  for (const bound::Input& input : constant.inputs) {
    const auto same = [&](const bound::Input& known) { return known.symbol == input.symbol; };
    if (std::none_of(inputs.begin(), inputs.end(), same)) inputs.push_back(input);
  }
}

// Constants with the same rate share one trial.
double trial_loss_of(const linear::Advice& advice, double rate) {
  for (const linear::Trial& trial : advice.trials) {
    if (trial.rate == rate) return trial.loss;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Options options_of(RateOptions& options) {
  return options_of(options.data) +
         Options{{"reduction", &options.gradient_reduction,
                  "the iteration bound is for a gradient this many times smaller than at the start",
                  Placeholder{"TIMES"}, between(1, 1e12)},
                 threads_option(options.threads)};
}

RateReport report_rates(const Prepared& prepared, const RateOptions& options) {
  ThreadPool pool(options.threads);
  const auto problem = linear::make_problem<double>(prepared.train, prepared, pool);
  const linear::Advice advice = linear::advise(*problem);
  RateReport report;
  report.trial_steps = advice.steps;
  for (linear::ConstantKind kind : linear::kConstantKinds) {
    if (!problem->has_constant(kind)) continue;
    const bound::Constant constant = problem->constant(kind);
    add_inputs(report.inputs, constant);
    report.constants.push_back({constant, trial_loss_of(advice, constant.rate())});
  }
  linear::Weights<double> gradient;
  report.start_loss = problem->evaluate(problem->zero_weights(), gradient);
  report.start_gradient_norm = gradient.norm();
  linear::SolverOptions reference;
  reference.epochs = kReferenceIterations;
  report.lowest_loss = linear::solve(*problem, reference, linear::State<double>{}).last.loss;
  report.epsilon = std::pow(report.start_gradient_norm / options.gradient_reduction, 2);
  if (report.epsilon > 0) {
    report.iterations = bound::iteration_bound(problem->constant(linear::ConstantKind::gradient).value,
                                               std::max(0.0, report.start_loss - report.lowest_loss), report.epsilon);
  }
  report.advised = to_string(advice.kind);
  report.advised_rate = problem->constant(advice.kind).rate();
  report.reason = advice.reason;
  return report;
}

}  // namespace lipschitzlr::run

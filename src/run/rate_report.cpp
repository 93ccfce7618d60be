#include "lipschitzlr/run/rate_report.hpp"

#include <algorithm>
#include <cmath>

#include "lipschitzlr/bound/descent.hpp"
#include "lipschitzlr/bound/matrix.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::run {
namespace {

constexpr int kFloorSteps = 500;
constexpr double kFloorGap = 1e-12;

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

struct Curvature {
  double factor;
  const char* formula;
};

Curvature curvature_of(linear::Family family) {
  switch (family) {
    case linear::Family::linear:
      return {bound::kLeastSquaresCurvature, "X'X/m"};
    case linear::Family::logistic:
      return {bound::kLogisticCurvature, "X'X/4m"};
    case linear::Family::softmax:
      return {bound::kSoftmaxCurvature, "X'X/2m"};
  }
  return {};
}

ReportedMatrix report_matrix(const linear::Problem<double>& problem, int steps) {
  const linear::Penalty& penalty = problem.setup().penalty;
  const auto [factor, data_part] = curvature_of(problem.setup().family);
  const Eigen::MatrixXd gram =
      std::visit([&](const auto& matrix) { return linear::gram(matrix, problem.row_weights(), problem.pool()); },
                 problem.matrix());
  const bound::CurvatureMatrix matrix(factor / problem.total_weight() * gram +
                                      penalty_curvature(penalty, problem.features()));
  linear::Weights<double> weights = problem.zero_weights(), gradient;
  ReportedMatrix report;
  report.trial_loss = problem.evaluate(weights, gradient);
  report.promised = matrix.decrement(gradient) / 2;
  for (int step = 0; step < steps; ++step) {
    weights -= matrix.step(gradient);
    report.trial_loss = problem.evaluate(weights, gradient);
  }
  report.formula = data_part;
  if (penalty.l2 > 0) report.formula += " + lambda I";
  if (!penalty.tikhonov.empty()) report.formula += " + 2 Gamma'Gamma";
  report.size = matrix.size();
  report.rank = matrix.rank();
  report.condition = matrix.condition();
  return report;
}

// A loss that was found is above the optimum, and a bound on the steps needs what is below: the loss less its proven
// distance from the optimum.
double proven_floor(const linear::Problem<double>& problem) {
  linear::SolverOptions options;
  options.epochs = kFloorSteps;
  options.gap_tolerance = kFloorGap;
  const auto outcome = linear::solve(problem, options, linear::State<double>{});
  return std::max(0.0, outcome.last.loss - outcome.certified_gap);
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
  const auto problem =
      linear::make_problem<double>(prepared.train, nullptr, prepared, pool, nullptr, prepared.train_weights);
  const linear::Advice advice = linear::advise(*problem);
  RateReport report;
  report.trial_steps = advice.steps;
  for (linear::ConstantKind kind : linear::kConstantKinds) {
    if (!problem->has_constant(kind)) continue;
    const bound::Constant constant = problem->constant(kind);
    add_inputs(report.inputs, constant);
    report.constants.push_back({constant, trial_loss_of(advice, constant.rate())});
  }
  if (problem->features() <= kLargestMatrix) report.matrix = report_matrix(*problem, advice.steps);
  linear::Weights<double> gradient;
  report.start_loss = problem->evaluate(problem->zero_weights(), gradient);
  report.start_gradient_norm = gradient.norm();
  const double beta = problem->constant(linear::ConstantKind::gradient).value;
  report.promised = bound::promised_descent(report.start_gradient_norm, beta);
  report.loss_floor = proven_floor(*problem);
  report.epsilon = std::pow(report.start_gradient_norm / options.gradient_reduction, 2);
  if (report.epsilon > 0) {
    report.iterations =
        bound::iteration_bound(beta, std::max(0.0, report.start_loss - report.loss_floor), report.epsilon);
  }
  report.advised = to_string(advice.kind);
  report.advised_rate = problem->constant(advice.kind).rate();
  report.reason = advice.reason;
  return report;
}

}  // namespace lipschitzlr::run

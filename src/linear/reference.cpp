#include "lipschitzlr/linear/reference.hpp"

#include <fmt/format.h>
#include <lbfgs.h>

#include <cmath>
#include <limits>

#include "linear/stop_monitor.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kReduction = 1e-8;

using Map = Eigen::Map<const Weights<double>>;

template <class Scalar>
struct Session {
  Session(const Problem<Scalar>& a_problem, const SolverOptions& some_options, const Observer& an_observer,
          State<Scalar> start)
      : problem(a_problem),
        options(some_options),
        monitor(an_observer, some_options.seconds, a_problem.communicator()),
        weights(start.weights),
        gradient(start.weights) {
    outcome.state = std::move(start);
  }

  const Problem<Scalar>& problem;
  const SolverOptions& options;
  StopMonitor monitor;
  Outcome<Scalar> outcome;
  Weights<Scalar> weights, gradient;
  std::optional<Stop> stop;
  double tolerance = 0;  // of the gradient's norm

  double evaluate(const double* x, double* g) {
    weights = Map(x, weights.rows(), weights.cols()).template cast<Scalar>();
    const double loss = problem.evaluate(weights, gradient);
    if (!std::isfinite(loss)) ++outcome.checks.not_finite;
    Eigen::Map<Weights<double>>(g, weights.rows(), weights.cols()) = gradient.template cast<double>();
    return loss;
  }

  // One finished iteration. A non-zero answer makes liblbfgs stop.
  int report(const double* x, double loss, double weight_norm, double gradient_norm, double step, int iteration) {
    RunChecks& checks = outcome.checks;
    ++checks.measurements;
    if (checks.measurements > 1 && loss > outcome.last.loss) ++checks.rises;
    outcome.state.weights = Map(x, weights.rows(), weights.cols()).template cast<Scalar>();
    outcome.last = {iteration, iteration, loss, gradient_norm, weight_norm, step, 0};
    monitor.show(outcome.last);
    if (monitor.interrupted()) stop = Stop::interrupted;
    if (gradient_norm <= tolerance) stop = Stop::gradient_tolerance;
    if (loss < options.loss_threshold) stop = Stop::loss_threshold;
    if (monitor.late()) stop = Stop::seconds;
    return stop ? 1 : 0;
  }
};

lbfgs_parameter_t parameters(const SolverOptions& options) {
  lbfgs_parameter_t settings;
  lbfgs_parameter_init(&settings);
  settings.epsilon = 0;  // its own test is absolute, and met at once where features are small
  settings.max_iterations = static_cast<int>(std::min<std::int64_t>(options.epochs, std::numeric_limits<int>::max()));
  if (options.relative_tolerance > 0) {
    settings.past = 5;
    settings.delta = options.relative_tolerance;
  }
  return settings;
}

Stop stop_of(int code) {
  switch (code) {
    case LBFGS_SUCCESS:
    case LBFGS_ALREADY_MINIMIZED:
      return Stop::gradient_tolerance;
    case LBFGS_STOP:
    // The line search can't improve on rounding any more: this is as low as it goes.
    case LBFGSERR_ROUNDING_ERROR:
    case LBFGSERR_MAXIMUMLINESEARCH:
    case LBFGSERR_MINIMUMSTEP:
    case LBFGSERR_WIDTHTOOSMALL:
      return Stop::relative_tolerance;
    case LBFGSERR_MAXIMUMITERATION:
      return Stop::epochs;
    default:
      throw Error(Fault::training, fmt::format("L-BFGS gave up (liblbfgs error {})", code));
  }
}

}  // namespace

template <class Scalar>
Outcome<Scalar> solve_lbfgs(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                            const Observer& observer) {
  if (start.weights.size() == 0) start.weights = problem.zero_weights();
  Weights<double> x = start.weights.template cast<double>();
  const int size = static_cast<int>(x.size());
  Session<Scalar> session(problem, options, observer, std::move(start));

  const auto evaluate = [](void* instance, const double* point, double* gradient, int, double) {
    return static_cast<Session<Scalar>*>(instance)->evaluate(point, gradient);
  };
  const auto report = [](void* instance, const double* point, const double*, double loss, double weight_norm,
                         double gradient_norm, double step, int, int iteration, int) {
    return static_cast<Session<Scalar>*>(instance)->report(point, loss, weight_norm, gradient_norm, step, iteration);
  };
  Weights<double> gradient = x;
  const double first = session.evaluate(x.data(), gradient.data());
  if (!std::isfinite(first)) throw Error(Fault::training, fmt::format("the loss of the starting weights is {}", first));
  const double steepest = gradient.norm();
  session.tolerance =
      options.gradient_tolerance > 0 ? options.gradient_tolerance : kReduction * std::min(1.0, steepest);
  session.report(x.data(), first, x.norm(), steepest, 0, 0);

  lbfgs_parameter_t settings = parameters(options);
  if (!session.stop && options.epochs > 0) {
    const int code = lbfgs(size, x.data(), nullptr, evaluate, report, &session, &settings);
    if (!session.stop) session.stop = session.outcome.checks.not_finite > 0 ? Stop::not_finite : stop_of(code);
  }
  session.outcome.stop = session.stop.value_or(Stop::epochs);
  return std::move(session.outcome);
}

template Outcome<float> solve_lbfgs(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve_lbfgs(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

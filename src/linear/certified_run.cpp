#include "linear/certified_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {

double gap_share(const SolverOptions& options, Family family) {
  if (options.gap_tolerance > 0) return options.gap_tolerance;
  return family == Family::linear ? 1e-8 : 1e-6;
}

template <class Scalar>
double rounding_floor(const Problem<Scalar>& problem) {
  if (problem.setup().family != Family::linear) return 0;
  const Vector<Scalar>& targets = problem.targets();
  const double largest =
      all_reduce_max(problem.communicator(), targets.size() > 0 ? double{targets.cwiseAbs().maxCoeff()} : 0.0);
  return std::pow(16 * double{std::numeric_limits<Scalar>::epsilon()} * largest, 2);
}

template <class Scalar>
CertifiedRun<Scalar>::CertifiedRun(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                                   const Observer& observer)
    : problem_(problem),
      options_(options),
      monitor_(observer, options.seconds, problem.communicator()),
      floor_(rounding_floor(problem)) {
  outcome_.state = std::move(start);
  if (state().weights.size() == 0) state().weights = problem.zero_weights();
  check_fits(state(), problem.features(), problem.setup().classes);
}

template <class Scalar>
std::optional<Stop> CertifiedRun<Scalar>::measure(const Measurement& now) {
  RunChecks& checks = outcome_.checks;
  if (++checks.measurements == 1 && !std::isfinite(now.loss)) {
    throw Error(Fault::training,
                fmt::format("the loss of the starting weights is {}: divide the target, or take another "
                            "scaling or a smaller penalty",
                            now.loss));
  }
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * std::abs(outcome_.last.loss);
  if (checks.measurements > 1 && now.loss > outcome_.last.loss + rounding) ++checks.rises;
  const double weight_norm = state().weights.template cast<double>().norm();
  outcome_.last = {.epoch = state().epoch,
                   .step = state().step,
                   .loss = now.loss,
                   .gradient_norm = now.gradient_norm,
                   .weight_norm = weight_norm,
                   .rate = now.rate};
  outcome_.certified_gap = now.gap;
  monitor_.show(outcome_.last);
  if (monitor_.interrupted()) return Stop::interrupted;
  if (now.loss < options_.loss_threshold) return Stop::loss_threshold;
  const double wanted = gap_share(options_, problem_.setup().family) * std::abs(now.loss);
  if (now.gap <= std::max(floor_, wanted)) return Stop::certified;
  if (now.gradient_norm <= options_.gradient_tolerance) return Stop::gradient_tolerance;
  if (now.separated && problem_.setup().penalty.empty()) return Stop::separable;
  if (state().epoch >= options_.epochs) return Stop::epochs;
  if (monitor_.late()) return Stop::seconds;
  return std::nullopt;
}

template <class Scalar>
Outcome<Scalar> CertifiedRun<Scalar>::end(Stop stop) {
  outcome_.stop = stop;
  return std::move(outcome_);
}

template double rounding_floor(const Problem<float>&);
template double rounding_floor(const Problem<double>&);
template class CertifiedRun<float>;
template class CertifiedRun<double>;

}  // namespace lipschitzlr::linear

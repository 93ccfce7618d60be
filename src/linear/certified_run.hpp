#pragma once
// What the solvers that prove how near the optimum they are do alike: the start, the record of a measurement, and when
// to stop.

#include <optional>

#include "linear/stop_monitor.hpp"

namespace lipschitzlr::linear {

// The share of the loss that a proven gap has to be below: the option, or 1e-6, and 1e-8 for least squares.
double gap_share(const SolverOptions& options, Family family);

// Of a perfect fit of numbers the loss is the square of what rounding leaves of the targets; 0 for classes. Collective.
template <class Scalar>
double rounding_floor(const Problem<Scalar>& problem);

template <class Scalar>
class CertifiedRun {
 public:
  // Throws Error (data) when the state does not fit the problem.
  CertifiedRun(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
               const Observer& observer);

  struct Measurement {
    double loss, gradient_norm, rate;
    double gap;              // f(w) - f* is at most this
    bool separated = false;  // the weights classify every row right
  };
  // Of the state's weights, after state().epoch steps; collective. Throws Error (training) when the first loss is not
  // finite.
  std::optional<Stop> measure(const Measurement& now);
  Outcome<Scalar> end(Stop stop);
  // Steps until a solver's own measure() says why it stops, or its step() that rounding is all that is left.
  template <class Solving>
  Outcome<Scalar> loop(Solving& solving) {
    std::optional<Stop> stop;
    while (!(stop = solving.measure())) {
      if (!solving.step()) return end(Stop::relative_tolerance);
      ++state().epoch;
      ++state().step;
    }
    return end(*stop);
  }

  State<Scalar>& state() { return outcome_.state; }
  Outcome<Scalar>& outcome() { return outcome_; }

 private:
  const Problem<Scalar>& problem_;
  const SolverOptions& options_;
  StopMonitor monitor_;
  double floor_;
  Outcome<Scalar> outcome_;
};

}  // namespace lipschitzlr::linear

#pragma once
// The update rules of the solvers, one step at a time; formulas in linear/solver.hpp. The vectors they carry are the
// state's, so that a resumed run continues with them.

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// Bias correction divides an average by 1 - beta^t; rate/ divides the matching constant by the same.
template <class Scalar>
class Stepper {
 public:
  Stepper(Solver solver, const rate::RuleOptions& options) : solver_(solver), options_(options) {}

  void step(State<Scalar>& state, const Weights<Scalar>& gradient, double rate);
  // The loss rose: the accelerated solver forgets its momentum.
  void restart(State<Scalar>& state) const;

 private:
  void accelerated(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate);
  void adamo(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate);
  void rmsprop(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate);
  void auto_adam(State<Scalar>& state, const Weights<Scalar>& gradient, Scalar rate);
  double correction(double beta, std::int64_t steps) const;

  Solver solver_;
  rate::RuleOptions options_;
  Weights<Scalar> next_;
};

}  // namespace lipschitzlr::linear

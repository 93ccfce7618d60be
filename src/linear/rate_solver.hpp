#pragma once
// The solvers that take a learning rate: gd, accelerated, sgd, adamo, rmsprop, auto-adam; formulas in
// linear/solver.hpp.

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

template <class Scalar>
Outcome<Scalar> solve_by_rate(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                              const Observer& observer);

}  // namespace lipschitzlr::linear

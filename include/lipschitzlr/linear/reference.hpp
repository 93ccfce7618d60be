#pragma once
// The reference optimum: L-BFGS of liblbfgs run to a small gradient on the same penalised loss. The other solvers are
// measured against it, and it is a solver too (`fit --solver lbfgs`). It is a library target of its own,
// lipschitzlr_reference, so that the core does not need liblbfgs.

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// Uses of the options: epochs (iterations), seconds, gradient_tolerance (when 0: 1e-8 of the gradient's norm at the
// start, at most 1e-8), relative_tolerance and loss_threshold; the observer is called once per iteration.
template <class Scalar>
Outcome<Scalar> solve_lbfgs(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                            const Observer& observer = {});

}  // namespace lipschitzlr::linear

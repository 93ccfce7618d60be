#pragma once
// Accelerated proximal gradient steps of 1/beta (Beck and Teboulle's FISTA), the plain solver of L1 and elastic net
// penalties: with beta the constant of the gradient of the smooth part f, and S(x, t) = sign(x) max(|x| - t, 0),
//   y <- w + (t-1)/t' (w - w_before),  t' = (1 + sqrt(1 + 4 t^2))/2
//   w <- S(y - grad f(y) / beta, l1 / beta),  without S where a weight is not penalised
// A step that would raise the loss by more than rounding is not taken. After it, and where the steps turn back, the
// next one starts without momentum, t = 1.

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// Of the options: epochs (steps), seconds, gap_tolerance, gradient_tolerance, loss_threshold. Stops as solve_coordinate
// does, and reports the same losses and gradients.
template <class Scalar>
Outcome<Scalar> solve_fista(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                            const Observer& observer = {});

}  // namespace lipschitzlr::linear

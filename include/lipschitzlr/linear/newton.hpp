#pragma once
// Newton's method with a certificate. Least squares: one step with the exact Hessian, S + P of bound/matrix.hpp, and
// refinements of it until the gap is proven. Logistic and softmax: w <- w - t H^-1 g, t = 1, 1/2, ... by Armijo's
// condition, and where no t will do the step of the matrix constant B, which always lowers the loss. Softmax is solved
// in the k - 1 coordinates that change a prediction. Collinear columns get the solution of the least norm. For at most
// some hundreds of weights: a step costs one X'DX per pair of outputs and a Cholesky factorisation.

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// Of the options: epochs (steps), seconds, gap_tolerance, gradient_tolerance, loss_threshold. Stops with
// Stop::certified once f(w) - f* <= gap_tolerance |f(w)| is proven, with Stop::separable when a classification without
// a penalty has no optimum because the weights separate its classes, with Stop::relative_tolerance when rounding allows
// no further progress. outcome.certified_gap is the proven bound at the last weights. The observer is called once per
// step.
template <class Scalar>
Outcome<Scalar> solve_newton(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                             const Observer& observer = {});

}  // namespace lipschitzlr::linear

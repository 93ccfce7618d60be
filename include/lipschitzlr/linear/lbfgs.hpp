#pragma once
// L-BFGS with a certificate, for problems with too many weights for a Hessian. The direction is -Hg, H the inverse
// Hessian that the last ten changes s of the weights and y of the gradient suggest, begun from the Lipschitz constant
// as a matrix (bound/matrix.hpp): c M^-1 with c = s'y / y'M^-1 y, which is L-BFGS in the coordinates of M^1/2.
//   plain     M = the largest entry of B's diagonal
//   diagonal  M = B's diagonal, the constants of the columns
//   matrix    M = B
//   sample    M = the Hessian of a sample of the rows near its optimum, where the run starts unless it is given
//   weights;
//             and every five steps that of all rows at the weights then reached. For one output; softmax takes B.
// The first step is M^-1 g. The step along a direction fulfils the weak Wolfe conditions, found by bisection.

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// Of the options: coordinates, epochs (iterations), seconds, gap_tolerance, gradient_tolerance, loss_threshold. Stops
// as solve_newton does. Without a penalty nothing can be proven: it then ends with Stop::relative_tolerance once the
// descent that H promises, g'Hg/2, has been below a tenth of the tolerance five times in a row.
template <class Scalar>
Outcome<Scalar> solve_lbfgs(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                            const Observer& observer = {});

}  // namespace lipschitzlr::linear

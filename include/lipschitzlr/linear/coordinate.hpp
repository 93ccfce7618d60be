#pragma once
// L1 and elastic net penalties, l1 ||w||_1 + l2/2 ||w||^2: Newton's method whose steps minimise the quadratic model of
// the loss plus the penalty, one weight after the other (src/linear/sparse_model.hpp),
//   w_j <- S(H_jj w_j - b_j, l1) / H_jj,   b the model's gradient, S(x, t) = sign(x) max(|x| - t, 0)
// over a working set: the weights that are not 0 and those whose gradient exceeds l1. H is X'DX/m + l2 I of that set,
// D the curvature of a row (least squares 1, logistic p(1-p), softmax diag(p) - pp'; of many weights its bound
// diag(p)). The step is halved until the loss falls as it must (Armijo).

#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

// Of the options: epochs (steps), seconds, gap_tolerance, gradient_tolerance, loss_threshold. Stops with
// Stop::certified once the duality gap is within the tolerance, with Stop::relative_tolerance when rounding allows no
// further progress. The losses it reports include the penalty, l1 too; the gradient is that of the smooth part, less
// what the L1 penalty absorbs.
template <class Scalar>
Outcome<Scalar> solve_coordinate(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                                 const Observer& observer = {});

}  // namespace lipschitzlr::linear

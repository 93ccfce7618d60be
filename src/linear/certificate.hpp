#pragma once
// Upper bounds of f(w) - f*, from what is known at w alone. With g the gradient, P the Hessian of the penalty, H that
// of f:
//   duality   g'P^-1 g / 2 where every weight is penalised. Where the last row b of the weights is not, with H_b its
//   rows
//             of the Hessian of the loss, t = H_bb^-1 g_b and g' = g - H_b' t (so that g'_b = 0):
//                 g''P^-1 g' / 2 + g_b't,   provided |x_b| (max t - min t) <= 1 over the rows (logistic: |x_b t| <= 1)
//             because the probabilities p - D t x_b are feasible in the dual problem, and their divergence from p is at
//             most the chi-squared distance, x_b^2 t'D t, D being diag(p) - pp'.
//   curvature ((1-x) ln(1-x) + x) / R^2, about g'H^-1 g / 2, with x = R sqrt(g'H^-1 g) < 1 and R >= how far the scores
//   of
//             a row can differ after a step of norm 1 in H: the third derivative of the loss along v is at most the
//             largest change of a row's scores times the second, so H(w + v) >= exp(-R |v|_H) H(w). It needs no
//             penalty.
//   L1        F being the loss of the rows, c its gradient (with the last row freed as above), and s = min(1,
//   l1/max|c|):
//                 (1-s) F + s g_b't + sum of l1 |w| + l2/2 w^2 + s c w
//             because s times the residuals is feasible in the dual problem, and so are residuals of 0, whose
//             divergence is F: it is convex. With l2 > 0 also the same for s = 1 with (|c| - l1)_+^2 / 2 l2 added.
//   least squares g'H^-1 g / 2, exact.
// Rounding is added to each: 16 units of the last place of the loss, and of g'M^-1 g a share that grows with the
// condition of M.

#include "linear/full_pass.hpp"
#include "lipschitzlr/bound/matrix.hpp"

namespace lipschitzlr::linear {

// The largest second derivative of a row's loss in its scores: what S is multiplied with in bound/matrix.hpp.
double largest_curvature(Family family);

double with_rounding(double gap, double loss);
// g'M^-1 g with what the factorisation may have lost of it: its relative error grows with the condition of M.
double safe_decrement(const bound::CurvatureMatrix& matrix, const Eigen::MatrixXd& gradient);

// Infinite where the condition fails or P has no inverse.
template <class Scalar>
double duality_gap(const Problem<Scalar>& problem, const FullPass& pass);

// With l1 in the penalty, which the pass' loss and gradient are without. Infinite where the condition fails.
template <class Scalar>
double sparse_duality_gap(const Problem<Scalar>& problem, const FullPass& pass);

// The same from its parts: F, g_b't, and c and w of the penalised weights.
double sparse_gap(double l1, double l2, double loss, double cost, const Eigen::ArrayXXd& c, const Eigen::ArrayXXd& w);

// hessian: of f at the pass' weights, in the coordinates of reduced(); collective.
template <class Scalar>
double curvature_gap(const Problem<Scalar>& problem, const FullPass& pass, const bound::CurvatureMatrix& hessian);

// The coordinates without the direction in which softmax does not change (the same number added to all outputs):
// W -> W U with U k x (k-1), orthonormal columns that sum to zero; for one output the identity.
Eigen::MatrixXd output_basis(Index outputs);
Eigen::VectorXd reduced(const Weights<double>& weights, const Eigen::MatrixXd& basis);  // stacked by outputs
Weights<double> expanded(const Eigen::VectorXd& stacked, const Eigen::MatrixXd& basis);

}  // namespace lipschitzlr::linear

#pragma once
// What the rate 1/beta promises (paper, section 4), beta being the Lipschitz constant of the gradient:
//   every full step        f(w+) <= f(w) - ||grad f(w)||^2 / (2 beta)
//   after n steps          min_k ||grad f(w_k)||^2 <= 2 beta (f(w_0) - f*) / n
// so n >= 2 beta (f(w_0) - f*) / epsilon steps bring the SQUARED gradient norm to epsilon once. The paper's closing
// line says ||grad f|| <= epsilon, which its proof does not give: for that, put epsilon^2.

namespace lipschitzlr::bound {

// The number of steps n, rounded up, after which one of w_0 ... w_{n-1} has ||grad f||^2 <= epsilon. loss_gap is
// f(w_0) - f*. Throws Error (usage) unless beta >= 0, loss_gap >= 0 and epsilon > 0, all finite.
double iteration_bound(double beta, double loss_gap, double epsilon);

// ||grad f||^2 / (2 beta)
inline double promised_descent(double gradient_norm, double beta) { return gradient_norm * gradient_norm / (2 * beta); }

// Whether f(w) - f(w+) is at least what was promised. slack allows for rounding: a share of the larger of |f(w)| and
// |f(w+)|. Never true of a loss that is not finite.
bool descent_holds(double loss_before, double loss_after, double promised, double slack = 1e-12);

}  // namespace lipschitzlr::bound

#pragma once
// The quadratic model of a loss with an L1 penalty: g'd + d'Hd/2 + sum of t_i |w_i|, d = w - w0. It is minimised one
// weight after the other,
//   w_i <- S(H_ii w_i - g_i, t_i) / H_ii,   g the gradient at the weights as they are, S(x, t) = sign(x) max(|x| - t,
//   0)
// and, where that takes as long as a factor of H, by a step to the minimum over the weights that are not 0 with their
// signs kept, or to where the first of them becomes 0.

#include <Eigen/Core>

namespace lipschitzlr::linear {

// slope: g at the weights given; both are changed. It ends with a sweep that lowers the model by less than the share
// `quiet` of what the first did.
void minimize_sparse_model(const Eigen::MatrixXd& h, const Eigen::VectorXd& limits, double quiet,
                           Eigen::VectorXd& slope, Eigen::VectorXd& weights);

}  // namespace lipschitzlr::linear

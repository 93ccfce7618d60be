#pragma once
// What is added to the mean loss: l2/2 ||w||^2 + ||Gamma w||^2 (paper, section 6.3) + l1 ||w||_1. All weights are
// penalised, including the intercept's, as in the paper, unless spare_last is set. The last term has no gradient at 0:
// the solver coordinate adds it, and what is said here of the penalty is without it.

#include "lipschitzlr/bound/tikhonov.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

struct Penalty {
  double l2 = 0;
  bound::Tikhonov tikhonov = {};

  bool spare_last = false;  // take the last row of the weights, the intercept's, as 0

  double l1 = 0;  // not with tikhonov

  bool empty() const { return l2 == 0 && tikhonov.empty() && l1 == 0; }
};

// With lambda (share ||w||_1 + (1-share)/2 ||w||^2) added: an elastic net, lambda and the share of L1 as glmnet has
// them.
Penalty with_elastic_net(Penalty penalty, double lambda, double l1_share);

// Returns the penalty at the weights and adds its gradient to the one given.
template <class Scalar>
double add_penalty(const Penalty& penalty, const Weights<Scalar>& weights, Weights<Scalar>& gradient);

// Its Hessian, the same for every output: l2 I + 2 Gamma'Gamma, n x n.
DenseMatrix<double> penalty_curvature(const Penalty& penalty, Index features);
Vector<double> penalty_diagonal(const Penalty& penalty, Index features);  // of it
void add_curvature(const Penalty& penalty, Eigen::Ref<Eigen::MatrixXd> matrix);

}  // namespace lipschitzlr::linear

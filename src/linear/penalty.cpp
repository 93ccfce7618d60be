#include "lipschitzlr/linear/penalty.hpp"

namespace lipschitzlr::linear {

Penalty with_elastic_net(Penalty penalty, double lambda, double l1_share) {
  penalty.l1 += lambda * l1_share;
  penalty.l2 += lambda * (1 - l1_share);
  return penalty;
}

template <class Scalar>
double add_penalty(const Penalty& penalty, const Weights<Scalar>& weights, Weights<Scalar>& gradient) {
  if (penalty.spare_last) {
    Weights<Scalar> others = weights, own = Weights<Scalar>::Zero(weights.rows(), weights.cols());
    others.bottomRows(1).setZero();
    const double value = add_penalty({penalty.l2, penalty.tikhonov}, others, own);
    own.bottomRows(1).setZero();
    gradient += own;
    return value;
  }
  double value = 0;
  if (penalty.l2 != 0) {
    gradient += static_cast<Scalar>(penalty.l2) * weights;
    value += penalty.l2 / 2 * weights.template cast<double>().squaredNorm();
  }
  if (!penalty.tikhonov.empty()) {
    value += penalty.tikhonov.value(weights);
    penalty.tikhonov.add_gradient(weights, gradient);
  }
  return value;
}

DenseMatrix<double> penalty_curvature(const Penalty& penalty, Index features) {
  DenseMatrix<double> curvature = DenseMatrix<double>::Zero(features, features);
  add_penalty<double>(penalty, DenseMatrix<double>::Identity(features, features), curvature);
  return curvature;
}

Vector<double> penalty_diagonal(const Penalty& penalty, Index features) {
  if (!penalty.tikhonov.empty()) return penalty_curvature(penalty, features).diagonal();
  Vector<double> diagonal = Vector<double>::Constant(features, penalty.l2);
  if (penalty.spare_last) diagonal[features - 1] = 0;
  return diagonal;
}

void add_curvature(const Penalty& penalty, Eigen::Ref<Eigen::MatrixXd> matrix) {
  if (penalty.tikhonov.empty()) {
    matrix.diagonal() += penalty_diagonal(penalty, matrix.rows());
  } else {
    matrix += penalty_curvature(penalty, matrix.rows());
  }
}

template double add_penalty(const Penalty&, const Weights<float>&, Weights<float>&);
template double add_penalty(const Penalty&, const Weights<double>&, Weights<double>&);

}  // namespace lipschitzlr::linear

#include "linear/hessian.hpp"

#include "linear/certificate.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::linear {

template <class Scalar>
Eigen::MatrixXd mean_gram(const Problem<Scalar>& problem, const Vector<double>& d) {
  const Vector<double>& weights = problem.row_weights();
  const Vector<double> weighed = weights.size() == 0 ? d : d.size() == 0 ? weights : weights.cwiseProduct(d).eval();
  return std::visit([&](const auto& matrix) { return gram(matrix, weighed, problem.pool(), problem.communicator()); },
                    problem.matrix()) /
         problem.total_weight();
}

template <class Scalar>
Eigen::MatrixXd mean_gram_with_targets(const Problem<Scalar>& problem) {
  return std::visit(
             [&](const auto& matrix) {
               return gram_with_targets(matrix, problem.targets(), problem.row_weights(), problem.pool(),
                                        problem.communicator());
             },
             problem.matrix()) /
         problem.total_weight();
}

template <class Scalar>
bound::CurvatureMatrix constant_curvature(const Problem<Scalar>& problem, double factor) {
  Eigen::MatrixXd matrix = factor * mean_gram(problem, {});
  add_curvature(problem.setup().penalty, matrix);
  return bound::CurvatureMatrix(std::move(matrix), &problem.pool());
}

template <class Scalar>
bound::CurvatureMatrix hessian_at(const Problem<Scalar>& problem, const FullPass& pass) {
  if (problem.setup().family == Family::linear) return constant_curvature(problem, 1);
  const Eigen::MatrixXd basis = output_basis(problem.setup().classes);
  const Index n = problem.features(), outputs = basis.cols();
  const bool logistic = problem.setup().family == Family::logistic;
  const auto p = pass.probabilities.array();
  Eigen::MatrixXd matrix(n * outputs, n * outputs);
  const DenseMatrix<double> means = logistic ? DenseMatrix<double>() : DenseMatrix<double>(pass.probabilities * basis);
  for (Index a = 0; a < outputs; ++a) {
    for (Index b = 0; b <= a; ++b) {
      // U'(diag(p) - pp')U is the curvature of a row's loss.
      const Vector<double> d = logistic ? Vector<double>(p.col(0) * (1 - p.col(0)))
                                        : Vector<double>(pass.probabilities * basis.col(a).cwiseProduct(basis.col(b)) -
                                                         means.col(a).cwiseProduct(means.col(b)));
      const Eigen::MatrixXd block = mean_gram(problem, d);
      matrix.block(a * n, b * n, n, n) = block;
      matrix.block(b * n, a * n, n, n) = block;
    }
    add_curvature(problem.setup().penalty, matrix.block(a * n, a * n, n, n));
    // Rounding may leave a diagonal of almost zero below it.
    auto diagonal = matrix.diagonal().segment(a * n, n);
    diagonal = diagonal.cwiseMax(0).eval();
  }
  return bound::CurvatureMatrix(std::move(matrix), &problem.pool());
}

template Eigen::MatrixXd mean_gram(const Problem<float>&, const Vector<double>&);
template Eigen::MatrixXd mean_gram(const Problem<double>&, const Vector<double>&);
template Eigen::MatrixXd mean_gram_with_targets(const Problem<float>&);
template Eigen::MatrixXd mean_gram_with_targets(const Problem<double>&);
template bound::CurvatureMatrix constant_curvature(const Problem<float>&, double);
template bound::CurvatureMatrix constant_curvature(const Problem<double>&, double);
template bound::CurvatureMatrix hessian_at(const Problem<float>&, const FullPass&);
template bound::CurvatureMatrix hessian_at(const Problem<double>&, const FullPass&);

}  // namespace lipschitzlr::linear

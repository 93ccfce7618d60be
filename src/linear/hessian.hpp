#pragma once
// The Hessian of the penalised loss, factored, for solvers and certificates; and the matrix constant that bounds it.

#include "linear/full_pass.hpp"
#include "lipschitzlr/bound/matrix.hpp"

namespace lipschitzlr::linear {

// X'DX/m with every row times its weight; empty: D = I. Collective.
template <class Scalar>
Eigen::MatrixXd mean_gram(const Problem<Scalar>& problem, const Vector<double>& d);

// X'X/m bordered by X'y/m and y'y/m, every row times its weight, from one pass over the rows; collective.
template <class Scalar>
Eigen::MatrixXd mean_gram_with_targets(const Problem<Scalar>& problem);

// factor X'X/m + P, every row times its weight; collective.
template <class Scalar>
bound::CurvatureMatrix constant_curvature(const Problem<Scalar>& problem, double factor);

// At the pass' weights, in the coordinates of output_basis() (certificate.hpp), output after output; collective. A
// multiplication X'DX for every pair of outputs.
template <class Scalar>
bound::CurvatureMatrix hessian_at(const Problem<Scalar>& problem, const FullPass& pass);

}  // namespace lipschitzlr::linear

#pragma once
// A sample of the rows of a problem with one output, for what need not be exact: where to start, and the Hessian as
// coordinates of L-BFGS (lbfgs.hpp). The rows are drawn by their numbers among all, so that the sample is the same
// however many processes share them. With q weights of an output, s rows of the sample bring the eigenvalues of H_s^-1
// H to about (1 +- sqrt(q/s))^2: 20 rows a weight are enough for steps that are nearly Newton's.

#include <memory>

#include "linear/full_pass.hpp"
#include "lipschitzlr/bound/matrix.hpp"
#include "lipschitzlr/linear/choose.hpp"

namespace lipschitzlr::linear {

// Whether there are so many more rows than weights that a sample is worth its overhead.
bool sample_pays(const Shape& shape);

template <class Scalar>
class RowSample {
 public:
  // Collective, like all of it. The problem must outlive it.
  explicit RowSample(const Problem<Scalar>& problem);

  // Weights near the optimum of the sample, which for all rows may be worse than none.
  Weights<Scalar> optimum() const;
  // At the weights, from the sample. A column that the sample has hardly any values of gets the curvature that its
  // values in all rows make likely.
  bound::CurvatureMatrix hessian(const Weights<double>& weights) const;

 private:
  const Problem<Scalar>& problem_;
  std::unique_ptr<Problem<Scalar>> sample_;
  Vector<double> column_squares_;  // of all rows, a mean
};

}  // namespace lipschitzlr::linear

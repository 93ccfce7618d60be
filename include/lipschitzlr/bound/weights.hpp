#pragma once
// A guess of ||w|| for linear regression before anything is trained (paper, section 8.1):
//   K = (a + b) / 2,   a = sum_j |mean_j|,   b = mean_j max_i x_ij
// The paper writes a without the absolute value; the code that made its tables takes it, and so do we. With it K is
// never negative.

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::bound {

// Of the raw, unscaled features without the intercept column; dense or sparse (zeros that are not stored count), float
// or double, a view of one, or streamed doubles. Throws Error (data) when there is no row or no column. With a
// communicator of the rows of all processes, to the bit; collective.
template <class Matrix>
double weight_bound_estimate(const Matrix& raw_features, Communicator* communicator = nullptr);

}  // namespace lipschitzlr::bound

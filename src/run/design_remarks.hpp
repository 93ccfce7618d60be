#pragma once
// What a user should know of the columns that a model was fitted to: constant and collinear ones, an ill-conditioned
// Hessian, and the direction that separates classes which have no optimum.

#include <string>
#include <vector>

#include "lipschitzlr/linear/problem.hpp"
#include "lipschitzlr/run/fit.hpp"

namespace lipschitzlr::run {

// One sentence for each, in the order above. result: its stop, condition and model. Collective.
template <class Scalar>
std::vector<std::string> design_remarks(const linear::Problem<Scalar>& problem, const Prepared& prepared,
                                        const FitResult& result);

}  // namespace lipschitzlr::run

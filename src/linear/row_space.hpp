#pragma once
// Far fewer rows than features: with a penalty l2/2 ||w||^2 the optimum is a combination of the rows, so that as many
// weights as there are rows suffice. F being the penalised columns of the design and FF' = LL', w = F'L^-T v has the
// scores Lv and the norm of v: the problem with the design L instead of F is the same one.

#include <optional>

#include "lipschitzlr/linear/choose.hpp"

namespace lipschitzlr::linear {

// Whether there are so few rows.
bool is_wide(const Shape& shape);

// The optimum within the given share of the loss, found there; nothing where it can't be done: with another
// penalty, with rows in other processes, with rows that depend on one another, with too many rows.
template <class Scalar>
std::optional<Weights<Scalar>> optimum_in_row_space(const Problem<Scalar>& problem, double gap_share);

}  // namespace lipschitzlr::linear

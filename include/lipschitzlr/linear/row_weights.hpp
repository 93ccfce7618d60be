#pragma once
// Weights of classes as weights of rows: a row counts as much as its class.

#include <vector>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::linear {

// m / (k m_c) for class c with m_c of the m targets: every class weighs m/k. A class without rows gets 0.
std::vector<double> balanced_class_weights(const Vector<double>& targets, Index classes);

// One per target. Throws Error (usage) when a target has no weight in the list, or one that is negative or not finite.
Vector<double> row_weights_of(const Vector<double>& targets, const std::vector<double>& class_weights);

}  // namespace lipschitzlr::linear

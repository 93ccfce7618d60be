#pragma once
// Checks shared by the constants of the loss and of the gradient; each throws with one sentence.

#include <string>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/bound/constant.hpp"

namespace lipschitzlr::bound {

// The count as a number. Throws Error (usage) when it is below least.
double checked_count(const std::string& symbol, Index count, Index least);

// Throws Error (usage) unless m, the number of rows or the sum of their weights, is finite and above 0.
void check_total(double m);

// Throws Error (data) when a norm is negative or not finite.
void check_norm(const std::string& symbol, double norm);

// Throws Error (usage) when lambda is negative or not finite.
void check_lambda(double lambda);

// Adds an input unless the same symbol with the same value is there already.
void add_input(Constant& constant, const std::string& symbol, double value);

}  // namespace lipschitzlr::bound

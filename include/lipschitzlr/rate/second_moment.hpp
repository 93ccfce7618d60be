#pragma once
// Four estimates of S = max ||(grad L)^2|| (paper, section 7.3), with c = (k-1)/(k m) for k classes, K_z the largest
// Frobenius norm of the penultimate activations A, lambda the L2 factor and ||w|| the largest norm of a parameter:
//   elementwise            (c K_z + lambda ||w||)^2
//   full_square            c^2 K_z^2 + lambda^2 ||w||^2 + 2 lambda c K_z ||w||
//   without_weight_square  c^2 K_z^2 + 2 lambda c K_z ||w||                        (the paper's choice)
//   coded                  c^2 max ||A o A||_F + 2 lambda c K_z ||w||              (what produced the tables)
// The first two are the same number, up to rounding: the paper writes the first as a norm of an elementwise square,
// but what is squared there is already a number. It reports that the first diverged and the second did not; the
// formulas alone do not explain that. Both names are kept so that both can be asked for.

#include <string>
#include <vector>

namespace lipschitzlr::rate {

enum class SecondMoment { elementwise, full_square, without_weight_square, coded };

// "elementwise", "full-square", "without-weight-square", "coded"
std::string to_string(SecondMoment estimate);
SecondMoment second_moment_from(const std::string& name);  // throws Error (usage) that lists the names
std::vector<std::string> second_moment_names();

// penultimate_square_norm is max ||A o A||_F, used by coded only. Throws Error (training) on a number that is negative
// or not finite.
double second_moment(SecondMoment estimate, double c, double penultimate_norm, double penultimate_square_norm,
                     double lambda, double weight_norm);

}  // namespace lipschitzlr::rate

#pragma once
// Estimates of S = max ||(grad L)^2|| (paper, section 7.3), with c = (k-1)/(k m) for k classes, K_z the largest
// Frobenius norm of the penultimate activations A, lambda the L2 factor and ||w|| the largest norm of a parameter:
//   elementwise            max ||(c A + lambda ||w||) o (c A + lambda ||w||)||_F, the number lambda ||w|| added to
//   every
//                          entry of the matrix
//   full_square            c^2 K_z^2 + lambda^2 ||w||^2 + 2 lambda c K_z ||w||
//   without_weight_square  c^2 K_z^2 + 2 lambda c K_z ||w||                        (the paper's choice)
//   coded                  c^2 max ||A o A||_F + 2 lambda c K_z ||w||              (what produced the tables)
//   coded_full_square      the same + lambda^2 ||w||^2                             (the authors' history hist-sq)
// The maxima are over the mini-batches. The paper reports that the first diverges.

#include <string>
#include <vector>

namespace lipschitzlr::rate {

enum class SecondMoment { elementwise, full_square, without_weight_square, coded, coded_full_square };

// "elementwise", "full-square", "without-weight-square", "coded", "coded-full-square"
std::string to_string(SecondMoment estimate);
SecondMoment second_moment_from(const std::string& name);  // throws Error (usage) that lists the names
std::vector<std::string> second_moment_names();

// Of the activations A of one mini-batch, or each number at its largest over several: then elementwise, which needs
// all of one batch, is the largest over the batches and not that of these.
struct ActivationNorms {
  double frobenius = 0;         // K_z = ||A||_F
  double square_frobenius = 0;  // ||A o A||_F
  double sum = 0, cube_sum = 0,
         count = 0;  // of the entries and of their cubes, and how many they are: elementwise only
};

// Throws Error (training) on a number that is not finite, or negative where it can't be.
double second_moment(SecondMoment estimate, double c, const ActivationNorms& activations, double lambda,
                     double weight_norm);

}  // namespace lipschitzlr::rate

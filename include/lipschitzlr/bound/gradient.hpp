#pragma once
// Lipschitz constants of the gradient: ||grad f(w) - grad f(v)|| <= beta ||w - v||. This is the L for which section 4
// of the paper proves descent with the rate 1/L; it is not the L of sections 5 and 6 (see loss.hpp).
//   least squares sigma^2/m     logistic sigma^2/4m     softmax sigma^2/2m     L2 + lambda     Tikhonov + 2||G'G||_2
// with sigma = sigma_max(X). Give SpectralNorm::upper() where the guarantee matters to the last digit.

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/bound/constant.hpp"
#include "lipschitzlr/bound/tikhonov.hpp"

namespace lipschitzlr::bound {

// m is the number of rows, or the sum of their weights w when X is sqrt(w) o X. Named "gradient". Throw Error (usage)
// unless m > 0, Error (data) when the norm is negative or not finite.
Constant least_squares_smoothness(double spectral_norm, double m);
Constant logistic_smoothness(double spectral_norm, double m);
Constant softmax_smoothness(double spectral_norm, double m);

// Once lambda/2 ||w||^2 or ||Gamma w||^2 is added to the loss; lambda = 0 and an empty penalty change nothing.
Constant with_l2_smoothness(Constant constant, double lambda);
Constant with_tikhonov_smoothness(Constant constant, const Tikhonov& tikhonov);

}  // namespace lipschitzlr::bound

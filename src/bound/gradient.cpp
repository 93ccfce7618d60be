#include "lipschitzlr/bound/gradient.hpp"

#include <fmt/format.h>

#include "bound/checks.hpp"

namespace lipschitzlr::bound {
namespace {

// divisor: how many times the curvature of one row's loss goes into one.
Constant smoothness(const char* formula, double divisor, double spectral_norm, double m) {
  check_total(m);
  check_norm("sigma_max", spectral_norm);
  return {
      "gradient", spectral_norm * (spectral_norm / (divisor * m)), formula, {{"sigma_max", spectral_norm}, {"m", m}}};
}

}  // namespace

Constant least_squares_smoothness(double spectral_norm, double m) {
  return smoothness("sigma_max^2/m", 1, spectral_norm, m);
}

Constant logistic_smoothness(double spectral_norm, double m) {
  return smoothness("sigma_max^2/4m", 4, spectral_norm, m);
}

Constant softmax_smoothness(double spectral_norm, double m) {
  return smoothness("sigma_max^2/2m", 2, spectral_norm, m);
}

Constant with_l2_smoothness(Constant constant, double lambda) {
  check_lambda(lambda);
  if (lambda == 0) return constant;
  constant.value += lambda;
  constant.formula += " + lambda";
  constant.inputs.push_back({"lambda", lambda});
  return constant;
}

Constant with_tikhonov_smoothness(Constant constant, const Tikhonov& tikhonov) {
  if (tikhonov.empty()) return constant;
  const double norm = tikhonov.gram_spectral_norm();
  constant.value += 2 * norm;
  constant.formula += " + 2 ||Gamma'Gamma||_2";
  constant.inputs.push_back({"||Gamma'Gamma||_2", norm});
  return constant;
}

}  // namespace lipschitzlr::bound

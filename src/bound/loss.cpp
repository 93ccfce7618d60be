#include "lipschitzlr/bound/loss.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "bound/checks.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::bound {
namespace {

// The name of a constant of the loss. Throws Error (usage) for the gradient's.
std::string loss_name(ConstantKind kind) {
  if (kind != ConstantKind::gradient) return to_string(kind);
  throw Error(Fault::usage, "the gradient's constant is not one of the loss; use published, coded or certified");
}

[[noreturn]] void no_coded(const std::string& what) {
  throw Error(Fault::usage, fmt::format("the authors' code has no constant for {}; use published or certified", what));
}

// The cross-entropy constants differ only in the symbols of their norms, the published factor (the size of the residual
// of one row where the paper takes it to be largest) and the certified one (where it really is).
struct CrossEntropy {
  std::string whole_symbol;      // "||X||_F", "K_z"
  std::string row_sum_symbol;    // "sum ||x_i||", "sum ||a_i||"
  std::string published_factor;  // "1/2m"
  double published_residual;     // 1/2
  std::string certified_factor;  // "1/m"
  double certified_residual;     // 1
};

Constant cross_entropy(ConstantKind kind, const CrossEntropy& terms, double whole_norm, double row_norm_sum, double m) {
  check_total(m);
  if (kind == ConstantKind::certified) {
    check_norm(terms.row_sum_symbol, row_norm_sum);
    return {loss_name(kind),
            terms.certified_residual / m * row_norm_sum,
            terms.certified_factor + " " + terms.row_sum_symbol,
            {{terms.row_sum_symbol, row_norm_sum}, {"m", m}}};
  }
  check_norm(terms.whole_symbol, whole_norm);
  return {loss_name(kind),
          terms.published_residual / m * whole_norm,
          terms.published_factor + " " + terms.whole_symbol,
          {{terms.whole_symbol, whole_norm}, {"m", m}}};
}

Constant binary(ConstantKind kind, const char* whole, const char* row_sum, double whole_norm, double row_norm_sum,
                double m) {
  return cross_entropy(kind, {whole, row_sum, "1/2m", 0.5, "1/m", 1}, whole_norm, row_norm_sum, m);
}

Constant multiclass(ConstantKind kind, const char* whole, const char* row_sum, double whole_norm, double row_norm_sum,
                    double m, Index classes) {
  const double k = checked_count("k", classes, 2);
  Constant constant =
      cross_entropy(kind, {whole, row_sum, "(k-1)/(k m)", (k - 1) / k, "sqrt(2)/m", std::numbers::sqrt2}, whole_norm,
                    row_norm_sum, m);
  if (kind != ConstantKind::certified) constant.inputs.push_back({"k", k});
  return constant;
}

// "K", unless another bound of that name is in the formula already.
std::string weight_symbol(const Constant& constant, double weight_bound) {
  for (const Input& input : constant.inputs) {
    if (input.symbol == "K" && input.value != weight_bound) return "K_w";
  }
  return "K";
}

}  // namespace

Constant linear_regression(ConstantKind kind, double weight_bound, double gram_norm, double target_product, double m) {
  check_total(m);
  check_norm("K", weight_bound);
  check_norm("||X'X||_F", gram_norm);
  check_norm("||y'X||", target_product);
  const double first = weight_bound / m * gram_norm;
  const double second = target_product / m;
  const bool minus = kind == ConstantKind::coded;
  return {loss_name(kind),
          minus ? std::abs(first - second) : first + second,
          minus ? "abs(K/m ||X'X||_F - 1/m ||y'X||)" : "K/m ||X'X||_F + 1/m ||y'X||",
          {{"K", weight_bound}, {"||X'X||_F", gram_norm}, {"||y'X||", target_product}, {"m", m}}};
}

Constant network_regression(ConstantKind kind, double output_bound, double target_norm, double penultimate_norm,
                            double m) {
  if (kind == ConstantKind::coded) no_coded("regression with a network");
  check_total(m);
  check_norm("K_a", output_bound);
  check_norm("||y||", target_norm);
  check_norm("K_z", penultimate_norm);
  return {loss_name(kind),
          (output_bound + target_norm) / m * penultimate_norm,
          "1/m (K_a + ||y||) K_z",
          {{"K_a", output_bound}, {"||y||", target_norm}, {"K_z", penultimate_norm}, {"m", m}}};
}

Constant logistic_regression(ConstantKind kind, double feature_norm, double row_norm_sum, double m) {
  return binary(kind, "||X||_F", "sum ||x_i||", feature_norm, row_norm_sum, m);
}

Constant binary_network(ConstantKind kind, double penultimate_norm, double row_norm_sum, double m) {
  return binary(kind, "K_z", "sum ||a_i||", penultimate_norm, row_norm_sum, m);
}

Constant softmax_regression(ConstantKind kind, double feature_norm, double row_norm_sum, double m, Index classes) {
  return multiclass(kind, "||X||_F", "sum ||x_i||", feature_norm, row_norm_sum, m, classes);
}

Constant multiclass_network(ConstantKind kind, double penultimate_norm, double row_norm_sum, double m, Index classes) {
  return multiclass(kind, "K_z", "sum ||a_i||", penultimate_norm, row_norm_sum, m, classes);
}

Constant with_l2(Constant constant, double lambda, double weight_bound) {
  check_lambda(lambda);
  if (lambda == 0) return constant;
  check_norm("K", weight_bound);
  const std::string symbol = weight_symbol(constant, weight_bound);
  constant.value += lambda * weight_bound;
  constant.formula += " + lambda " + symbol;
  constant.inputs.push_back({"lambda", lambda});
  add_input(constant, symbol, weight_bound);
  return constant;
}

Constant with_tikhonov(ConstantKind kind, Constant constant, const Tikhonov& tikhonov, Index n, double weight_bound) {
  if (tikhonov.empty()) return constant;
  if (kind == ConstantKind::coded) no_coded("a Tikhonov penalty");
  loss_name(kind);
  check_norm("K", weight_bound);
  const bool certified = kind == ConstantKind::certified;
  const std::string symbol = weight_symbol(constant, weight_bound);
  const std::string norm_symbol = certified ? "||Gamma'Gamma||_2" : "||Gamma^2||_F";
  const double norm = certified ? tikhonov.gram_spectral_norm() : tikhonov.square_norm(n);
  constant.value += 2 * weight_bound * norm;
  constant.formula += fmt::format(" + 2 {} {}", symbol, norm_symbol);
  constant.inputs.push_back({norm_symbol, norm});
  add_input(constant, symbol, weight_bound);
  return constant;
}

}  // namespace lipschitzlr::bound

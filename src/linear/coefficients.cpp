#include "lipschitzlr/linear/coefficients.hpp"

#include <algorithm>
#include <cmath>

namespace lipschitzlr::linear {
namespace {

constexpr double kIntervalP = 0.05;

bool has_constant(const Model& model) {
  return model.scaler.intercept || std::any_of(model.scaler.offsets.begin(), model.scaler.offsets.end(),
                                               [](double offset) { return offset != 0; });
}

double size_of_effect(const Coefficient& coefficient) {
  return std::abs(coefficient.effect.value_or(coefficient.value));
}

}  // namespace

std::vector<Coefficient> coefficients(const Model& model) {
  const Inference& inference = model.inference;
  const DenseMatrix<double> values = coefficients_of(model.scaler, model.weights);
  const Index features = model.scaler.features();
  const double critical = inference.has_errors() ? critical_value(kIntervalP, inference.degrees_of_freedom) : 0;
  std::vector<Coefficient> all;
  for (Index c = 0; c < values.cols(); ++c) {
    const std::size_t begin = all.size();
    for (Index j = 0; j < features + (has_constant(model) ? 1 : 0); ++j) {
      Coefficient& one = all.emplace_back();
      one.value = values(j, c);
      if (model.family == Family::softmax) one.label = model.labels[static_cast<std::size_t>(c) + 1];
      if (j < features) {
        one.name = model.feature_names[static_cast<std::size_t>(j)];
        if (inference.known()) one.effect = one.value * inference.deviations[static_cast<std::size_t>(j)];
      }
      if (!inference.has_errors() || !(inference.standard_errors(j, c) > 0)) continue;
      const double error = inference.standard_errors(j, c);
      one.standard_error = error;
      one.statistic = one.value / error;
      one.p = two_sided_p(*one.statistic, inference.degrees_of_freedom);
      one.low = one.value - critical * error;
      one.high = one.value + critical * error;
    }
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    std::stable_sort(first, first + features,
                     [](const Coefficient& a, const Coefficient& b) { return size_of_effect(a) > size_of_effect(b); });
  }
  return all;
}

std::string why_no_errors(const Model& model) {
  if (model.inference.has_errors()) return "";
  return model.inference.known() ? model.inference.obstacle
                                 : "the model file does not have them; `lipschitzlr fit` of this version writes them";
}

}  // namespace lipschitzlr::linear

#pragma once
// The coefficients of a model, one by one, with what is known of each: for people, charts and other programs.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/linear/model.hpp"

namespace lipschitzlr::linear {

struct Coefficient {
  std::string name;   // of the feature; empty for an intercept
  std::string label;  // softmax: the class whose log-odds against the first it changes; otherwise empty
  double value = 0;   // in the units of the file
  // The change of the prediction, or of the log-odds, for one standard deviation of the feature; none for an intercept,
  // and where the model file lacks the deviations.
  std::optional<double> effect;
  // 95 % interval. None where the model has no standard errors.
  std::optional<double> standard_error, statistic, p, low, high;
};

// Class by class; of each the features by the size of their effects (where they are not known, of their coefficients),
// then the intercept, when there is one.
std::vector<Coefficient> coefficients(const Model& model);

// Why the model has no standard errors, as part of a sentence; empty when it has.
std::string why_no_errors(const Model& model);

}  // namespace lipschitzlr::linear

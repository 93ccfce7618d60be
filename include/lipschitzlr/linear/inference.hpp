#pragma once
// What a fit says of its coefficients beside their values: standard errors from the inverse of the Fisher information
// at the optimum, in the units of the file. With X the design, W the weight of all rows and H the Hessian of the mean
// loss,
//   least squares  s^2 (X'X)^-1, s^2 = sum of squared residuals / (W - columns); Student's t with W - columns degrees
//   classes        (W H)^-1; the normal distribution. Of more than two classes the coefficients are those of a class
//                  less those of the first: the log-odds against it
// They hold without a penalty, at the optimum, where it is unique. Row weights count as repeated rows.

#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

struct Inference {
  std::vector<double> deviations;       // of each feature over the training rows: what an effect is measured in
  std::string obstacle;                 // why there are no standard errors; empty: there are
  DenseMatrix<double> standard_errors;  // of coefficients_of(); NaN where a column is constant and has none
  double degrees_of_freedom = 0;        // of Student's t; infinite for the normal distribution

  bool known() const { return !deviations.empty(); }
  bool has_errors() const { return standard_errors.size() > 0; }
};

// The coefficients of raw features, without the scaling: one row per feature, then that of the intercept, which is
// there whenever a feature is centred. One column, or of softmax one for each class but the first.
DenseMatrix<double> coefficients_of(const data::Scaler& scaler, const Weights<double>& weights);

struct Optimum {
  double loss, gradient_norm;
  double gap;  // the loss is proven to be no further above the least one
};

// Standard errors at the optimum that the weights are near: the last Newton steps to it are taken here, and the weights
// are changed by them. Fills in obstacle where there are none. Collective.
std::optional<Optimum> add_standard_errors(const Problem<double>& problem, const data::Scaler& scaler,
                                           Weights<double>& weights, Inference& inference);

// P(|t| > statistic) of Student's t; of the normal distribution where the degrees of freedom are infinite.
double two_sided_p(double statistic, double degrees_of_freedom);
// The statistic that has this p.
double critical_value(double p, double degrees_of_freedom);

}  // namespace lipschitzlr::linear

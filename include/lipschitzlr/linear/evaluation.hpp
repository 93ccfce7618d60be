#pragma once
// Everything that is said of a model's predictions for rows whose target is known, the figures as scikit-learn defines
// them. Of class c against the others, with the rows in the order of their scores:
//   AUC                P(score of a row of c > score of another row), a tie counting as half
//   average precision  sum over the thresholds of (recall_i - recall_{i-1}) precision_i
//   Brier score        mean (p - y)^2 for two classes; for more, the mean of the sum of it over the classes
// Averages over classes: macro counts each class alike, weighted by its rows. AUC and average precision of more than
// two classes are macro averages. Row weights count as repeated rows.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {

struct ClassFigures {
  double weight = 0;  // of the rows of this class: their number, without row weights
  double precision = 0, recall = 0, f1 = 0;
  std::optional<double> auc, average_precision;  // none where all rows, or no rows, are of this class
};

struct Averages {
  double precision = 0, recall = 0, f1 = 0;
};

struct RocCurve {
  std::vector<double> false_positive, true_positive;  // shares, from 0 to 1; at most kRocPoints
};
inline constexpr std::size_t kRocPoints = 200, kRocClasses = 12;

// Rows whose probability is in a tenth of [0, 1], open below: that of the second of two classes, or of more classes
// that of the predicted one.
struct CalibrationBin {
  double weight = 0;
  double predicted = 0, observed = 0;  // the mean probability, and how often it came true; 0 for an empty bin
};
inline constexpr std::size_t kCalibrationBins = 10;

// An error is the prediction less the target. The quantile of share q is the smallest error that at least q of the rows
// do not exceed.
inline constexpr std::array<double, 5> kErrorShares = {0.05, 0.25, 0.5, 0.75, 0.95};

// Equal bins over the middle 99 % of the errors; what lies outside is in the outermost ones.
struct Histogram {
  double first = 0, width = 0;
  std::vector<double> weights;
};

struct Evaluation : Metrics {
  Family family = Family::linear;
  std::vector<std::string> labels;
  // Of classes.
  std::vector<ClassFigures> classes;
  Averages macro, weighted;  // over the classes that a row has or is predicted to have
  double balanced_accuracy = 0;
  std::optional<double> auc, average_precision;  // of two classes: of the second one
  double brier = 0, calibration_error = 0;       // the mean distance between predicted and observed over the rows
  std::vector<CalibrationBin> calibration;
  // Of the second of two classes, or of each of up to kRocClasses; empty where there is no AUC.
  std::vector<RocCurve> roc;
  // Of numbers.
  std::array<double, kErrorShares.size()> error_quantiles = {};
  double largest_error = 0;  // in absolute value
  Histogram errors;
  std::vector<std::string> remarks;  // what is not defined, and why
};

// scores and targets as in measure(); labels of the classes, none for numbers. There must be a row; throws Error
// (data) when all weigh 0.
Evaluation evaluate(Family family, const DenseMatrix<double>& scores, const Vector<double>& targets,
                    const std::vector<std::string>& labels, const Vector<double>& row_weights = {});

// A JSON object with every figure; what is not defined is null.
std::string to_json(const Evaluation& evaluation);

}  // namespace lipschitzlr::linear

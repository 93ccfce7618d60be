#include "lipschitzlr/linear/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr std::size_t kHistogramBins = 40;
constexpr double kTail = 0.005;  // of the errors, on either side of the histogram

struct Ranked {
  double score, positive, negative;  // the row's weight is in one of the two
};

// One class against the others.
struct Ranking {
  std::optional<double> auc, average_precision;
  RocCurve roc;
};

// Keeps a point when it is far enough along the curve from the last one.
class RocThinner {
 public:
  explicit RocThinner(RocCurve& curve) : curve_(curve) {}

  void add(double false_positive, double true_positive, bool must) {
    const double way = false_positive + true_positive;
    if (!must && way - last_ < 2.0 / static_cast<double>(kRocPoints - 2)) return;
    last_ = way;
    curve_.false_positive.push_back(false_positive);
    curve_.true_positive.push_back(true_positive);
  }

 private:
  RocCurve& curve_;
  double last_ = 0;
};

Ranking rank(std::vector<Ranked>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  double positives = 0, negatives = 0;
  for (const Ranked& row : rows) {
    positives += row.positive;
    negatives += row.negative;
  }
  Ranking ranking;
  if (!(positives > 0) || !(negatives > 0)) return ranking;
  RocThinner curve(ranking.roc);
  curve.add(0, 0, true);
  double area = 0, precision = 0, true_positive = 0, false_positive = 0;
  for (std::size_t i = 0; i < rows.size();) {
    double tied_positive = 0, tied_negative = 0;
    const double score = rows[i].score;
    for (; i < rows.size() && rows[i].score == score; ++i) {
      tied_positive += rows[i].positive;
      tied_negative += rows[i].negative;
    }
    area += tied_negative * (true_positive + tied_positive / 2);
    true_positive += tied_positive;
    false_positive += tied_negative;
    if (tied_positive > 0) precision += tied_positive * true_positive / (true_positive + false_positive);
    if (i < rows.size()) curve.add(false_positive / negatives, true_positive / positives, false);
  }
  curve.add(1, 1, true);
  ranking.auc = area / (positives * negatives);
  ranking.average_precision = precision / positives;
  return ranking;
}

// Of the second of two classes, whose scores are one column or one each.
double log_odds(const DenseMatrix<double>& scores, Index row) {
  return scores.cols() == 1 ? scores(row, 0) : scores(row, 1) - scores(row, 0);
}

void rank_classes(Evaluation& result, const DenseMatrix<double>& scores, const DenseMatrix<double>& probabilities,
                  const Vector<double>& targets, const Vector<double>& weights) {
  const bool binary = result.labels.size() == 2;
  std::vector<Ranked> rows(static_cast<std::size_t>(targets.size()));
  double area = 0, precision = 0;
  std::size_t ranked = 0;
  for (std::size_t c = 0; c < result.classes.size(); ++c) {
    const auto column = static_cast<Index>(c);
    for (Index i = 0; i < targets.size(); ++i) {
      // Scores of two classes tell rows apart whose probabilities are both 1 to rounding.
      const double score = binary ? (c == 1 ? log_odds(scores, i) : -log_odds(scores, i)) : probabilities(i, column);
      const bool positive = static_cast<std::size_t>(targets[i]) == c;
      rows[static_cast<std::size_t>(i)] = {std::isnan(score) ? -std::numeric_limits<double>::infinity() : score,
                                           positive ? weights[i] : 0, positive ? 0 : weights[i]};
    }
    Ranking ranking = rank(rows);
    result.classes[c].auc = ranking.auc;
    result.classes[c].average_precision = ranking.average_precision;
    if (!ranking.auc || (binary && c == 0)) continue;
    ++ranked;
    area += *ranking.auc;
    precision += *ranking.average_precision;
    if (result.classes.size() > kRocClasses) continue;
    result.roc.resize(binary ? 1 : result.classes.size());
    result.roc[binary ? 0 : c] = std::move(ranking.roc);
  }
  if (ranked == 0) return;
  result.auc = area / static_cast<double>(ranked);
  result.average_precision = precision / static_cast<double>(ranked);
}

// Precision, recall and F1 from the table of true and predicted classes; 0 where there is nothing to divide by.
void count_classes(Evaluation& result) {
  const std::size_t count = result.labels.size();
  double total = 0, present = 0, shown = 0;
  for (std::size_t c = 0; c < count; ++c) {
    double truly = 0, predicted = 0;
    for (std::size_t other = 0; other < count; ++other) {
      truly += result.confusion[c][other];
      predicted += result.confusion[other][c];
    }
    const double right = result.confusion[c][c];
    ClassFigures& figures = result.classes.emplace_back();
    figures.weight = truly;
    figures.precision = predicted > 0 ? right / predicted : 0;
    figures.recall = truly > 0 ? right / truly : 0;
    const double sum = figures.precision + figures.recall;
    figures.f1 = sum > 0 ? 2 * figures.precision * figures.recall / sum : 0;
    total += truly;
    if (truly > 0) {
      ++present;
      result.balanced_accuracy += figures.recall;
    }
    if (truly + predicted > 0) ++shown;
  }
  result.balanced_accuracy /= present;
  for (const ClassFigures& figures : result.classes) {
    const auto add = [&](Averages& averages, double share) {
      averages.precision += share * figures.precision;
      averages.recall += share * figures.recall;
      averages.f1 += share * figures.f1;
    };
    add(result.macro, 1 / shown);
    add(result.weighted, figures.weight / total);
  }
}

void calibrate(Evaluation& result, const DenseMatrix<double>& probabilities, const Vector<double>& targets,
               const Vector<double>& weights) {
  const bool binary = result.labels.size() == 2;
  result.calibration.resize(kCalibrationBins);
  for (Index i = 0; i < targets.size(); ++i) {
    const auto truth = static_cast<Index>(targets[i]);
    Index named = 1;
    if (!binary) probabilities.row(i).maxCoeff(&named);
    const double p = probabilities(i, named);
    // The edges as multiples of 0.1, as scikit-learn has them; an edge belongs to the bin below it.
    std::size_t bin = 0;
    while (bin + 1 < kCalibrationBins && p > static_cast<double>(bin + 1) * 0.1) ++bin;
    CalibrationBin& tenth = result.calibration[bin];
    tenth.weight += weights[i];
    tenth.predicted += weights[i] * p;
    tenth.observed += truth == named ? weights[i] : 0;
    if (binary) {
      const double miss = p - (truth == 1 ? 1 : 0);
      result.brier += weights[i] * miss * miss;
    } else {
      const double truths_share = probabilities(i, truth);
      result.brier += weights[i] * (probabilities.row(i).squaredNorm() - 2 * truths_share + 1);
    }
  }
  const double total = weights.sum();
  result.brier /= total;
  for (CalibrationBin& bin : result.calibration) {
    if (!(bin.weight > 0)) continue;
    result.calibration_error += std::abs(bin.predicted - bin.observed) / total;
    bin.predicted /= bin.weight;
    bin.observed /= bin.weight;
  }
}

void explain_missing(Evaluation& result) {
  std::vector<std::string> without;
  std::string only;
  for (std::size_t c = 0; c < result.labels.size(); ++c) {
    (result.classes[c].weight > 0 ? only : without.emplace_back()) = in_quotes(result.labels[c]);
  }
  if (!result.auc) {
    result.remarks.push_back(
        fmt::format("ROC-AUC and average precision are not defined: every row has the class {}", only));
  } else if (!without.empty()) {
    result.remarks.push_back(
        fmt::format("no row has the class {}{}: averages of ROC-AUC and average precision are over the others",
                    without.front(), without.size() > 1 ? fmt::format(" or {} others", without.size() - 1) : ""));
  }
}

void evaluate_classes(Evaluation& result, const DenseMatrix<double>& scores, const Vector<double>& targets,
                      const Vector<double>& weights) {
  DenseMatrix<double> probabilities(scores.rows(), static_cast<Index>(result.labels.size()));
  for (Index i = 0; i < scores.rows(); ++i) {
    const std::vector<double> shares = linear::probabilities(result.family, scores, i);
    probabilities.row(i) = Eigen::Map<const Eigen::RowVectorXd>(shares.data(), probabilities.cols());
  }
  count_classes(result);
  rank_classes(result, scores, probabilities, targets, weights);
  calibrate(result, probabilities, targets, weights);
  explain_missing(result);
}

struct WeighedError {
  double error, weight;
};

double quantile(const std::vector<WeighedError>& sorted, double share, double total) {
  constexpr double kRounding = 1e-12;
  double below = 0;
  for (const WeighedError& row : sorted) {
    below += row.weight;
    if (row.weight > 0 && below >= share * total * (1 - kRounding)) return row.error;
  }
  return sorted.back().error;
}

void evaluate_numbers(Evaluation& result, const DenseMatrix<double>& scores, const Vector<double>& targets,
                      const Vector<double>& weights) {
  std::vector<WeighedError> rows;
  for (Index i = 0; i < targets.size(); ++i) rows.push_back({scores(i, 0) - targets[i], weights[i]});
  std::erase_if(rows, [](const WeighedError& row) { return !(row.weight > 0) || std::isnan(row.error); });
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end(), [](const WeighedError& a, const WeighedError& b) { return a.error < b.error; });
  double total = 0;
  for (const WeighedError& row : rows) total += row.weight;
  for (std::size_t i = 0; i < kErrorShares.size(); ++i) {
    result.error_quantiles[i] = quantile(rows, kErrorShares[i], total);
  }
  result.largest_error = std::max(std::abs(rows.front().error), std::abs(rows.back().error));
  const double low = quantile(rows, kTail, total), high = quantile(rows, 1 - kTail, total);
  if (!std::isfinite(high - low) || !(high > low)) return;
  result.errors = {low, (high - low) / kHistogramBins, std::vector<double>(kHistogramBins)};
  for (const WeighedError& row : rows) {
    const double place = std::clamp((row.error - low) / (high - low), 0.0, 1.0) * kHistogramBins;
    result.errors.weights[std::min(static_cast<std::size_t>(place), kHistogramBins - 1)] += row.weight;
  }
}

}  // namespace

Evaluation evaluate(Family family, const DenseMatrix<double>& scores, const Vector<double>& targets,
                    const std::vector<std::string>& labels, const Vector<double>& row_weights) {
  if (row_weights.size() > 0 && !(row_weights.sum() > 0)) {
    throw Error(Fault::data, "the rows to evaluate all weigh 0; choose others, or leave out --weight");
  }
  Evaluation result;
  static_cast<Metrics&>(result) = measure(family, scores, targets, static_cast<Index>(labels.size()), row_weights);
  result.family = family;
  result.labels = labels;
  const Vector<double> weights = row_weights.size() == 0 ? Vector<double>::Ones(targets.size()) : row_weights;
  if (family == Family::linear) {
    evaluate_numbers(result, scores, targets, weights);
  } else {
    evaluate_classes(result, scores, targets, weights);
  }
  return result;
}

}  // namespace lipschitzlr::linear

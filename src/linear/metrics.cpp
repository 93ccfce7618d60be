#include "lipschitzlr/linear/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lipschitzlr::linear {
namespace {

double log_sum_exp(const DenseMatrix<double>& scores, Index row) {
  const double highest = scores.row(row).maxCoeff();
  double sum = 0;
  for (Index j = 0; j < scores.cols(); ++j) sum += std::exp(scores(row, j) - highest);
  return highest + std::log(sum);
}

std::map<double, double> weight_of_values(const Vector<double>& targets, const Vector<double>& weights) {
  std::map<double, double> sums;
  for (Index i = 0; i < targets.size(); ++i) sums[targets[i]] += weights[i];
  return sums;
}

void measure_regression(Metrics& metrics, const DenseMatrix<double>& scores, const Vector<double>& targets,
                        const Vector<double>& weights) {
  const Vector<double> residuals = scores.col(0) - targets;
  const double total = weights.sum(), squares = weights.dot(residuals.cwiseAbs2());
  metrics.rmse = std::sqrt(squares / total);
  metrics.mae = weights.dot(residuals.cwiseAbs()) / total;
  const double spread = weights.dot((targets.array() - weights.dot(targets) / total).square().matrix());
  metrics.r2 = spread > 0 ? 1 - squares / spread : squares > 0 ? 0 : 1;  // as scikit-learn has it
}

void measure_classes(Metrics& metrics, Family family, const DenseMatrix<double>& scores, const Vector<double>& targets,
                     Index classes, const Vector<double>& weights) {
  const auto size = static_cast<std::size_t>(classes);
  metrics.confusion.assign(size, std::vector<double>(size));
  double right = 0, majority = 0;
  for (Index i = 0; i < targets.size(); ++i) {
    const auto truth = static_cast<Index>(targets[i]);
    const Index guess = predicted_class(family, scores, i);
    metrics.confusion[static_cast<std::size_t>(truth)][static_cast<std::size_t>(guess)] += weights[i];
    if (truth == guess) right += weights[i];
  }
  for (const auto& [value, weight] : weight_of_values(targets, weights)) majority = std::max(majority, weight);
  metrics.accuracy = right / weights.sum();
  metrics.majority_accuracy = majority / weights.sum();
}

Vector<double> ones_or(const Vector<double>& weights, Index rows) {
  return weights.size() == 0 ? Vector<double>::Ones(rows) : weights;
}

}  // namespace

double row_loss(Family family, const DenseMatrix<double>& scores, double target, Index row) {
  switch (family) {
    case Family::linear: {
      const double residual = scores(row, 0) - target;
      return residual * residual / 2;
    }
    case Family::logistic: {
      const double score = scores(row, 0);
      return std::max(score, 0.0) - target * score + std::log1p(std::exp(-std::abs(score)));
    }
    case Family::softmax:
      return log_sum_exp(scores, row) - scores(row, static_cast<Index>(target));
  }
  return 0;
}

double best_constant_loss(Family family, const Vector<double>& targets, const Vector<double>& row_weights) {
  const Vector<double> weights = ones_or(row_weights, targets.size());
  const double total = weights.sum();
  if (family == Family::linear) {
    return weights.dot((targets.array() - weights.dot(targets) / total).square().matrix()) / (2 * total);
  }
  double entropy = 0;
  for (const auto& [value, weight] : weight_of_values(targets, weights)) {
    if (weight > 0) entropy -= weight / total * std::log(weight / total);
  }
  return entropy;
}

Index predicted_class(Family family, const DenseMatrix<double>& scores, Index row) {
  if (family == Family::logistic) return scores(row, 0) > 0 ? 1 : 0;
  Index best = 0;
  scores.row(row).maxCoeff(&best);
  return best;
}

std::vector<double> probabilities(Family family, const DenseMatrix<double>& scores, Index row) {
  if (family == Family::logistic) {
    const double score = scores(row, 0);
    const double small = std::exp(-std::abs(score)) / (1 + std::exp(-std::abs(score)));
    return score > 0 ? std::vector{small, 1 - small} : std::vector{1 - small, small};
  }
  const double total = log_sum_exp(scores, row);
  std::vector<double> shares;
  for (Index j = 0; j < scores.cols(); ++j) shares.push_back(std::exp(scores(row, j) - total));
  return shares;
}

Metrics measure(Family family, const DenseMatrix<double>& scores, const Vector<double>& targets, Index classes,
                const Vector<double>& row_weights) {
  const Vector<double> weights = ones_or(row_weights, targets.size());
  Metrics metrics;
  metrics.rows = targets.size();
  for (Index i = 0; i < targets.size(); ++i) metrics.loss += weights[i] * row_loss(family, scores, targets[i], i);
  metrics.loss /= weights.sum();
  metrics.constant_loss = best_constant_loss(family, targets, weights);
  if (family == Family::linear) {
    measure_regression(metrics, scores, targets, weights);
  } else {
    measure_classes(metrics, family, scores, targets, classes, weights);
  }
  return metrics;
}

}  // namespace lipschitzlr::linear

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

std::map<double, Index> count_values(const Vector<double>& targets) {
  std::map<double, Index> counts;
  for (double target : targets) ++counts[target];
  return counts;
}

void measure_regression(Metrics& metrics, const DenseMatrix<double>& scores, const Vector<double>& targets) {
  const Vector<double> residuals = scores.col(0) - targets;
  metrics.rmse = std::sqrt(residuals.squaredNorm() / static_cast<double>(targets.size()));
  metrics.mae = residuals.cwiseAbs().mean();
  const double spread = (targets.array() - targets.mean()).matrix().squaredNorm();
  metrics.r2 = spread > 0 ? 1 - residuals.squaredNorm() / spread : 0;
}

void measure_classes(Metrics& metrics, Family family, const DenseMatrix<double>& scores, const Vector<double>& targets,
                     Index classes) {
  const auto size = static_cast<std::size_t>(classes);
  metrics.confusion.assign(size, std::vector<Index>(size));
  Index right = 0, majority = 0;
  for (Index i = 0; i < targets.size(); ++i) {
    const auto truth = static_cast<Index>(targets[i]);
    const Index guess = predicted_class(family, scores, i);
    ++metrics.confusion[static_cast<std::size_t>(truth)][static_cast<std::size_t>(guess)];
    right += truth == guess;
  }
  for (const auto& [value, count] : count_values(targets)) majority = std::max(majority, count);
  metrics.accuracy = static_cast<double>(right) / static_cast<double>(targets.size());
  metrics.majority_accuracy = static_cast<double>(majority) / static_cast<double>(targets.size());
}

}  // namespace

double best_constant_loss(Family family, const Vector<double>& targets) {
  const auto m = static_cast<double>(targets.size());
  if (family == Family::linear) return (targets.array() - targets.mean()).square().sum() / (2 * m);
  double entropy = 0;
  for (const auto& [value, count] : count_values(targets)) {
    const double share = static_cast<double>(count) / m;
    entropy -= share * std::log(share);
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

Metrics measure(Family family, const DenseMatrix<double>& scores, const Vector<double>& targets, Index classes) {
  Metrics metrics;
  metrics.rows = targets.size();
  for (Index i = 0; i < targets.size(); ++i) metrics.loss += row_loss(family, scores, targets[i], i);
  metrics.loss /= static_cast<double>(targets.size());
  metrics.constant_loss = best_constant_loss(family, targets);
  if (family == Family::linear) {
    measure_regression(metrics, scores, targets);
  } else {
    measure_classes(metrics, family, scores, targets, classes);
  }
  return metrics;
}

}  // namespace lipschitzlr::linear

#include "linear/gram_lasso.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "linear/certificate.hpp"
#include "linear/hessian.hpp"
#include "linear/sparse_model.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kMostGramFeatures = 1000;
constexpr int kMostRounds = 100;
constexpr double kQuietShare = 0.01;  // of the tolerance
constexpr double kSumRounding = 64 * std::numeric_limits<double>::epsilon();

}  // namespace

GramLasso::GramLasso(Eigen::MatrixXd gram, Eigen::VectorXd product, double square, bool spare_last)
    : gram_(std::move(gram)), product_(std::move(product)), square_(square), spared_(spare_last) {
  const Index kept = gram_.rows() - (spare_last ? 1 : 0);
  if (spare_last) {
    const Eigen::VectorXd before = gram_.diagonal().head(kept);
    const double last = gram_(kept, kept);
    last_column_ = gram_.col(kept).head(kept) / last;
    last_alone_ = product_[kept] / last;
    gram_ = (gram_.topLeftCorner(kept, kept) - last * last_column_ * last_column_.transpose()).eval();
    product_ = (product_.head(kept) - product_[kept] * last_column_).eval();
    square_ -= last * last_alone_ * last_alone_;
    safe_ = last > 0 && square_ > kLeftOver * square &&
            ((gram_.diagonal().array() > kLeftOver * before.array()) || before.array() == 0).all();
  }
  weights_ = Eigen::VectorXd::Zero(kept);
}

Eigen::VectorXd GramLasso::solve(double l1, double l2, double gap_tolerance) {
  for (int round = 0; round < kMostRounds; ++round) {
    const Eigen::VectorXd slope = gram_ * weights_ - product_;  // without l2
    const double loss = std::max(0.0, (square_ + weights_.dot(slope - product_)) / 2);
    const double penalised = loss + l1 * weights_.lpNorm<1>() + l2 / 2 * weights_.squaredNorm();
    if (sparse_gap(l1, l2, loss, 0, slope, weights_) <= std::max(gap_tolerance * penalised, kSumRounding * square_))
      break;
    const std::vector<Index> set = working_set(slope, l1);
    if (set.empty()) break;
    const auto size = static_cast<Index>(set.size());
    Eigen::MatrixXd h = gram_(set, set);
    h.diagonal().array() += l2;
    Eigen::VectorXd w = weights_(set), g = slope(set) + l2 * w;
    minimize_sparse_model(h, Eigen::VectorXd::Constant(size, l1), kQuietShare * gap_tolerance, g, w);
    weights_(set) = w;
  }
  return with_last();
}

// The weights that are not 0, and those that should not be.
std::vector<Index> GramLasso::working_set(const Eigen::VectorXd& slope, double l1) const {
  std::vector<Index> set;
  for (Index j = 0; j < weights_.size(); ++j) {
    if (weights_[j] != 0 || std::abs(slope[j]) > l1) set.push_back(j);
  }
  return set;
}

Eigen::VectorXd GramLasso::with_last() const {
  if (!spared_) return weights_;
  Eigen::VectorXd all(weights_.size() + 1);
  all << weights_, last_alone_ - last_column_.dot(weights_);
  return all;
}

template <class Scalar>
std::optional<GramLasso> gram_lasso(const Problem<Scalar>& problem) {
  const ProblemSetup& setup = problem.setup();
  if (setup.family != Family::linear || !setup.penalty.tikhonov.empty() || problem.features() > kMostGramFeatures) {
    return std::nullopt;
  }
  const Eigen::MatrixXd sums = mean_gram_with_targets(problem);
  const Index n = problem.features();
  GramLasso lasso(sums.topLeftCorner(n, n), sums.col(n).head(n), sums(n, n), setup.penalty.spare_last);
  return lasso.is_safe() ? std::optional(std::move(lasso)) : std::nullopt;
}

template std::optional<GramLasso> gram_lasso(const Problem<float>&);
template std::optional<GramLasso> gram_lasso(const Problem<double>&);

}  // namespace lipschitzlr::linear

#include "linear/sparse_model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "linear/sparse_penalty.hpp"
#include "lipschitzlr/base/cholesky.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr int kMostSweeps = 500;
constexpr Index kLeastSweeps = 8;       // before a factor
constexpr Index kWeightsOfASweep = 20;  // a factor of so many more takes as long as another sweep

// Returns how much the model falls, twice.
double sweep(const Eigen::MatrixXd& h, const Eigen::VectorXd& limits, Eigen::VectorXd& slope,
             Eigen::VectorXd& weights) {
  double fall = 0;
  for (Index i = 0; i < h.rows(); ++i) {
    const double a = h(i, i);
    if (!(a > 0)) continue;
    const double change = shrunk(a * weights[i] - slope[i], limits[i]) / a - weights[i];
    if (change == 0) continue;
    slope += change * h.col(i);
    fall += a * change * change;
    weights[i] += change;
  }
  return fall;
}

void step_with_signs(const Eigen::MatrixXd& h, const Eigen::VectorXd& limits, Eigen::VectorXd& slope,
                     Eigen::VectorXd& weights) {
  std::vector<Index> support;
  for (Index i = 0; i < h.rows(); ++i) {
    if (h(i, i) > 0 && (weights[i] != 0 || limits[i] == 0)) support.push_back(i);
  }
  Eigen::VectorXd gradient = slope(support);
  for (std::size_t i = 0; i < support.size(); ++i) {
    if (weights[support[i]] != 0)
      gradient[static_cast<Index>(i)] += std::copysign(limits[support[i]], weights[support[i]]);
  }
  const Cholesky factor(h(support, support));
  if (!factor.succeeded()) return;
  const Eigen::VectorXd direction = -factor.solve(gradient);
  Eigen::VectorXd all = Eigen::VectorXd::Zero(h.rows());
  all(support) = direction;
  const Eigen::VectorXd curved = h * all;
  // 1 but for rounding, which an almost singular matrix enlarges.
  double length = -gradient.dot(direction) / all.dot(curved);
  if (!(length > 0) || !std::isfinite(length)) return;
  Index first = -1;
  for (const Index i : support) {
    if (limits[i] > 0 && weights[i] * (weights[i] + length * all[i]) < 0) {
      length = -weights[i] / all[i];
      first = i;
    }
  }
  slope += length * curved;
  weights += length * all;
  if (first >= 0) weights[first] = 0;
}

}  // namespace

void minimize_sparse_model(const Eigen::MatrixXd& h, const Eigen::VectorXd& limits, double quiet,
                           Eigen::VectorXd& slope, Eigen::VectorXd& weights) {
  const int sweeps_of_a_factor = static_cast<int>(std::max(kLeastSweeps, h.rows() / kWeightsOfASweep));
  double begun = 0;
  for (int done = 1; done <= kMostSweeps; ++done) {
    const double fall = sweep(h, limits, slope, weights);
    if (done == 1) begun = fall;
    if (fall <= quiet * begun) return;
    if (done % sweeps_of_a_factor == 0) step_with_signs(h, limits, slope, weights);
  }
}

}  // namespace lipschitzlr::linear

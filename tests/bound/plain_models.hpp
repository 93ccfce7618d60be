#pragma once
// The losses of method and paper once more, as plain loops over nested vectors with no code in common with the library:
// the independent side of the tests. Weights are n x outputs, row by row.

#include <algorithm>
#include <cmath>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::bound::plain {

using Numbers = std::vector<double>;

enum class Kind { linear, logistic, softmax };

struct Problem {
  Kind kind;
  std::vector<Numbers> x;
  Numbers y;
  std::size_t outputs;

  std::size_t rows() const { return x.size(); }
  std::size_t features() const { return x[0].size(); }
  std::size_t weights() const { return features() * outputs; }
  DenseMatrix<double> matrix() const {
    DenseMatrix<double> result(rows(), features());
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t j = 0; j < features(); ++j) result(static_cast<Index>(i), static_cast<Index>(j)) = x[i][j];
    }
    return result;
  }
};

inline double norm(const Numbers& v) {
  double sum = 0;
  for (double value : v) sum += value * value;
  return std::sqrt(sum);
}

inline Numbers scores(const Problem& p, std::size_t i, const Numbers& w) {
  Numbers z(p.outputs);
  for (std::size_t j = 0; j < p.features(); ++j) {
    for (std::size_t c = 0; c < p.outputs; ++c) z[c] += p.x[i][j] * w[j * p.outputs + c];
  }
  return z;
}

inline double log_sum_exp(const Numbers& z) {
  const double top = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (double value : z) sum += std::exp(value - top);
  return top + std::log(sum);
}

inline double loss(const Problem& p, const Numbers& w) {
  double sum = 0;
  for (std::size_t i = 0; i < p.rows(); ++i) {
    const Numbers z = scores(p, i, w);
    if (p.kind == Kind::linear) sum += (z[0] - p.y[i]) * (z[0] - p.y[i]) / 2;
    if (p.kind == Kind::logistic) sum += log_sum_exp({0, z[0]}) - p.y[i] * z[0];
    if (p.kind == Kind::softmax) sum += log_sum_exp(z) - z[static_cast<std::size_t>(p.y[i])];
  }
  return sum / static_cast<double>(p.rows());
}

inline Numbers gradient(const Problem& p, const Numbers& w) {
  Numbers g(w.size());
  for (std::size_t i = 0; i < p.rows(); ++i) {
    const Numbers z = scores(p, i, w);
    Numbers residual(p.outputs);
    if (p.kind == Kind::linear) residual[0] = z[0] - p.y[i];
    if (p.kind == Kind::logistic) residual[0] = 1 / (1 + std::exp(-z[0])) - p.y[i];
    if (p.kind == Kind::softmax) {
      const double all = log_sum_exp(z);
      for (std::size_t c = 0; c < p.outputs; ++c) residual[c] = std::exp(z[c] - all);
      residual[static_cast<std::size_t>(p.y[i])] -= 1;
    }
    for (std::size_t j = 0; j < p.features(); ++j) {
      for (std::size_t c = 0; c < p.outputs; ++c) g[j * p.outputs + c] += p.x[i][j] * residual[c];
    }
  }
  for (double& value : g) value /= static_cast<double>(p.rows());
  return g;
}

inline Numbers random_numbers(Random& random, std::size_t count, double scale) {
  Numbers v(count);
  for (double& value : v) value = scale * random.normal();
  return v;
}

// Features of unequal size; targets drawn apart from them, so that many rows can be wrong at once.
inline Problem random_problem(Kind kind, std::uint64_t seed, std::size_t m = 20, std::size_t n = 4,
                              std::size_t classes = 3) {
  Random random(seed);
  Problem p{kind, {}, {}, kind == Kind::softmax ? classes : 1};
  for (std::size_t i = 0; i < m; ++i) {
    p.x.push_back(random_numbers(random, n, 1 + 3 * random.uniform()));
    if (kind == Kind::linear) p.y.push_back(5 * random.normal());
    if (kind == Kind::logistic) p.y.push_back(static_cast<double>(random.below(2)));
    if (kind == Kind::softmax) p.y.push_back(static_cast<double>(random.below(classes)));
  }
  return p;
}

}  // namespace lipschitzlr::bound::plain

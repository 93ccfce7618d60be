#include "lipschitzlr/linear/inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "linear/certificate.hpp"
#include "linear/hessian.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kMostErrors = 1000;          // weights: their covariance takes the cube,
constexpr double kMostInferenceWork = 1e11;  // ... and X'DX so many multiplications
constexpr int kMostNewtonSteps = 20;
constexpr double kAtOptimum = 1e-9, kNearOptimum = 1e-6;  // in standard errors

// From the weights of the design's columns to coefficients of the raw features and their intercept, (features + 1) x
// columns.
Eigen::MatrixXd undo_scaling(const data::Scaler& scaler) {
  const Index features = scaler.features(), columns = scaler.design_columns();
  Eigen::MatrixXd undo = Eigen::MatrixXd::Zero(features + 1, columns);
  for (Index j = 0; j < features; ++j) {
    const auto place = static_cast<std::size_t>(j);
    undo(j, j) = scaler.factors[place];
    undo(features, j) = -scaler.factors[place] * scaler.offsets[place];
  }
  if (scaler.intercept) undo(features, features) = scaler.factors.back();
  return undo;
}

// From k outputs to the differences between them and the first; for one output it is that.
Eigen::MatrixXd contrasts(Index outputs) {
  if (outputs == 1) return Eigen::MatrixXd::Ones(1, 1);
  Eigen::MatrixXd differences = Eigen::MatrixXd::Zero(outputs, outputs - 1);
  differences.row(0).setConstant(-1);
  differences.bottomRows(outputs - 1).setIdentity();
  return differences;
}

std::string obstacle_of_size(const Problem<double>& problem) {
  const Index outputs = std::max<Index>(1, problem.setup().classes - 1), count = problem.features() * outputs;
  const double work = static_cast<double>(problem.rows()) * static_cast<double>(count) * static_cast<double>(count);
  if (count > kMostErrors || work > kMostInferenceWork) {
    return fmt::format("computing them for {} from {} would take too long", counted(count, "weight"),
                       counted(problem.rows(), "row"));
  }
  if (problem.total_weight() <= static_cast<double>(count)) {
    const std::string rows = problem.row_weights().size() == 0
                                 ? counted(problem.rows(), "row")
                                 : fmt::format("rows that weigh {:.4g} in all", problem.total_weight());
    return fmt::format("{} leave nothing to estimate the errors of {} from", rows, counted(count, "weight"));
  }
  return "";
}

constexpr const char* kNoOptimum =
    "some coefficients have no finite optimum: a column, or a combination, tells the class of some rows for certain";
constexpr const char* kNotReached = "Newton's method did not reach the optimum to the last digits, which they need";

struct AtOptimum {
  FullPass pass;
  bound::CurvatureMatrix hessian;
  double gap;
};

// The weights are moved to the optimum; where there is none, the reason. empty: columns of zeros.
std::optional<AtOptimum> move_to_optimum(const Problem<double>& problem, Index empty, Weights<double>& weights,
                                         std::string& obstacle) {
  const Eigen::MatrixXd basis = output_basis(problem.setup().classes);
  const bool quadratic = problem.setup().family == Family::linear;  // one step ends it
  double before = std::numeric_limits<double>::infinity();
  obstacle = kNotReached;
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    FullPass pass = full_pass(problem, weights);
    bound::CurvatureMatrix hessian = hessian_at(problem, pass);
    // Where the loss falls without end towards a bound, the Hessian vanishes along with the gradient: the steps stay of
    // one length, however small both are, and no bound of the distance to an optimum is finite.
    const double gap = curvature_gap(problem, pass, hessian);
    if (pass.separated || hessian.rank() + empty * basis.cols() < hessian.size()) {
      obstacle = kNoOptimum;
      break;
    }
    const Eigen::VectorXd gradient = reduced(pass.gradient, basis);
    const Eigen::VectorXd direction = hessian.step(gradient);
    const double distance = std::sqrt(std::max(0.0, problem.total_weight() * gradient.dot(direction)));
    const bool arrived =
        quadratic ? step > 0 : distance <= kAtOptimum || (distance <= kNearOptimum && distance > before / 2);
    if (arrived && (std::isfinite(gap) || empty > 0)) {  // a column of zeros leaves no bound at all
      obstacle.clear();
      return AtOptimum{std::move(pass), std::move(hessian), gap};
    }
    if (arrived || !(quadratic || distance <= before / 2)) {  // Newton's method near an optimum is faster than that
      if (!std::isfinite(gap)) obstacle = kNoOptimum;
      break;
    }
    before = distance;
    weights -= expanded(direction, basis);
  }
  return std::nullopt;
}

}  // namespace

DenseMatrix<double> coefficients_of(const data::Scaler& scaler, const Weights<double>& weights) {
  return undo_scaling(scaler) * weights * contrasts(weights.cols());
}

std::optional<Optimum> add_standard_errors(const Problem<double>& problem, const data::Scaler& scaler,
                                           Weights<double>& weights, Inference& inference) {
  inference.obstacle = obstacle_of_size(problem);
  if (!inference.obstacle.empty()) return std::nullopt;
  const bound::CurvatureMatrix gram = constant_curvature(problem, 1);
  const Index empty = (gram.scale().array() == 0).count();
  if (gram.rank() + empty < gram.size()) {
    inference.obstacle =
        "columns follow from others, as the levels of a category do, so that the coefficients are one choice of many";
    return std::nullopt;
  }
  Weights<double> polished = weights;
  const auto optimum = move_to_optimum(problem, empty, polished, inference.obstacle);
  if (!optimum) return std::nullopt;
  weights = polished;
  if (problem.setup().family == Family::linear && optimum->pass.loss == 0) {
    inference.obstacle = "the fit is perfect: residuals of 0 say nothing of how far the coefficients may be off";
    return Optimum{0, optimum->pass.gradient.norm(), optimum->gap};
  }
  const double total = problem.total_weight();
  const Index columns = problem.features(), size = optimum->hessian.size();
  double variance = 1 / total;
  inference.degrees_of_freedom = std::numeric_limits<double>::infinity();
  if (problem.setup().family == Family::linear) {
    inference.degrees_of_freedom = total - static_cast<double>(columns - empty);
    variance = 2 * optimum->pass.loss / inference.degrees_of_freedom;  // s^2 / W, the loss being half the mean square
  }
  const Eigen::MatrixXd covariance = variance * optimum->hessian.step(Eigen::MatrixXd::Identity(size, size));
  const Eigen::MatrixXd undo = undo_scaling(scaler);
  // W = V U' has the coordinates V of output_basis(): a contrast d of outputs is V (U'd).
  const Eigen::MatrixXd turned = output_basis(weights.cols()).transpose() * contrasts(weights.cols());
  inference.standard_errors = DenseMatrix<double>(undo.rows(), turned.cols());
  for (Index c = 0; c < turned.cols(); ++c) {
    Eigen::MatrixXd of_columns = Eigen::MatrixXd::Zero(columns, columns);
    for (Index a = 0; a < turned.rows(); ++a) {
      for (Index b = 0; b < turned.rows(); ++b) {
        of_columns += turned(a, c) * turned(b, c) * covariance.block(a * columns, b * columns, columns, columns);
      }
    }
    for (Index j = 0; j < undo.rows(); ++j) {
      const double squared = undo.row(j) * of_columns * undo.row(j).transpose();
      inference.standard_errors(j, c) = squared > 0 ? std::sqrt(squared) : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return Optimum{optimum->pass.loss, optimum->pass.gradient.norm(), optimum->gap};
}

namespace {

// ln Gamma(a + 1/2) - ln Gamma(a), which the difference of two large numbers would leave few digits of.
double half_step_of_gamma(double a) {
  constexpr double kSeries = 50;
  if (a < kSeries) return std::lgamma(a + 0.5) - std::lgamma(a);
  return std::log(a) / 2 - 1 / (8 * a) + 1 / (192 * a * a * a) - 1 / (640 * std::pow(a, 5));
}

// The regularised incomplete beta function I_x(a, b) by Lentz's continued fraction, for x below about the mean a / (a +
// b); y is 1 - x, and one of a and b is 1/2.
double beta_fraction(double a, double b, double x, double y) {
  constexpr double kTiny = 1e-300, kEnough = 1e-16;
  constexpr int kMostTerms = 100000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), product = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    product *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    product *= d * c;
    if (std::abs(d * c - 1) < kEnough) break;
  }
  const double inverse_beta = half_step_of_gamma(a + b - 0.5) - std::lgamma(0.5);
  const auto log_of = [](double value, double rest) { return value < 0.5 ? std::log(value) : std::log1p(-rest); };
  return std::exp(inverse_beta + a * log_of(x, y) + b * log_of(y, x)) * product / a;
}

}  // namespace

double two_sided_p(double statistic, double degrees_of_freedom) {
  const double t = std::abs(statistic);
  if (std::isinf(degrees_of_freedom)) return std::erfc(t / std::sqrt(2.0));
  if (t == 0) return 1;
  if (std::isinf(t)) return 0;
  const double n = degrees_of_freedom, x = n / (n + t * t), y = t * t / (n + t * t);
  return x < (n / 2 + 1) / (n / 2 + 2.5) ? beta_fraction(n / 2, 0.5, x, y) : 1 - beta_fraction(0.5, n / 2, y, x);
}

double critical_value(double p, double degrees_of_freedom) {
  double low = 0, high = 1;
  while (two_sided_p(high, degrees_of_freedom) > p) high *= 2;
  for (int halving = 0; halving < 200 && low < high; ++halving) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (two_sided_p(middle, degrees_of_freedom) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace lipschitzlr::linear

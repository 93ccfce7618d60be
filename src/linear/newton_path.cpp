#include "linear/newton_path.hpp"

#include <cmath>

#include "linear/hessian.hpp"
#include "linear/two_loops.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kMostKept = 500;         // features: a path keeps up to 30 matrices of their square
constexpr double kPathDecrement = 1e-5;  // of the loss: what a step still promises
constexpr int kStepsOfOne = 5;           // with the same H
constexpr int kMostPathSteps = 60;
constexpr int kPathHalvings = 8;
// Of what a step promises. With an H of other weights one may lead far beyond the optimum, to where all probabilities
// are 0 or 1: there the loss is lower than at the start too, but no curvature shows the way back.
constexpr double kPathArmijo = 0.1;

}  // namespace

template <class Scalar>
bool takes_newton_path(const Problem<Scalar>& problem) {
  return problem.setup().family == Family::logistic && problem.features() <= kMostKept &&
         problem.features() <= problem.rows() && problem.setup().penalty.l1 == 0;
}

template <class Scalar>
NewtonPath<Scalar>::NewtonPath(Problem<Scalar>& problem, PathMatrices& matrices)
    : problem_(problem), matrices_(matrices) {
  problem.set_penalty({});
  if (matrices.start.size() > 0) {
    now_.weights = matrices.start;
    evaluate(now_);
    // Of a fold with one class alone they are of no use: its intercept is as large as it gets.
    if (now_.loss <= std::log(2.0)) return;
  }
  now_.weights = problem.zero_weights().template cast<double>();
  evaluate(now_);
}

template <class Scalar>
const Weights<double>& NewtonPath<Scalar>::solve_with(const Penalty& penalty, std::size_t number) {
  choose_matrix(penalty, number);
  pairs_.clear();
  int steps = 0;
  bool converged = false;
  for (int all = 0; all < kMostPathSteps && !converged; ++all) {
    if (steps == kStepsOfOne) {
      renew(penalty);
      pairs_.clear();
      steps = 0;
    }
    const Point penalised = with_penalty(penalty, now_);
    const Weights<double> direction =
        -two_loops(pairs_, penalised.gradient, [&](const Weights<double>& v) { return matrix_->step(v); });
    converged = -dot(direction, penalised.gradient) / 2 <= kPathDecrement * penalised.loss;
    if (converged) {
      found_ = now_.weights + direction;  // the last step is taken without looking at the rows again
    } else if (step(penalty, penalised, direction)) {
      ++steps;
    } else if (steps > 0 || !renewed_) {
      steps = kStepsOfOne;  // H is of weights too far away
    } else {
      break;
    }
  }
  if (!converged) found_ = now_.weights;
  if (number == matrices_.of_lambda.size()) matrices_.of_lambda.push_back(matrix_);
  if (matrices_.start.size() == 0) matrices_.start = found_;
  return found_;
}

template <class Scalar>
void NewtonPath<Scalar>::evaluate(Point& point) const {
  Weights<Scalar> gradient;
  point.loss = problem_.evaluate(point.weights.template cast<Scalar>(), gradient);
  point.gradient = gradient.template cast<double>();
}

template <class Scalar>
typename NewtonPath<Scalar>::Point NewtonPath<Scalar>::with_penalty(const Penalty& penalty, Point point) const {
  point.loss += add_penalty(penalty, point.weights, point.gradient);
  return point;
}

// A fold that had to renew H for the lambda before keeps its own.
template <class Scalar>
void NewtonPath<Scalar>::choose_matrix(const Penalty& penalty, std::size_t number) {
  if (number < matrices_.of_lambda.size() && !renewed_) {
    matrix_ = matrices_.of_lambda[number];
  } else if (curvature_.size() == 0) {
    renew(penalty);
  } else {
    matrix_ = std::make_shared<bound::CurvatureMatrix>(curvature_ + penalty_curvature(penalty, problem_.features()),
                                                       &problem_.pool());
  }
  renewed_ = false;
}

template <class Scalar>
void NewtonPath<Scalar>::renew(const Penalty& penalty) {
  const FullPass pass = full_pass(problem_, now_.weights);
  const auto p = pass.probabilities.col(0).array();
  curvature_ = mean_gram(problem_, Vector<double>(p * (1 - p)));
  matrix_ = std::make_shared<bound::CurvatureMatrix>(curvature_ + penalty_curvature(penalty, problem_.features()),
                                                     &problem_.pool());
  renewed_ = true;
}

// False, and nothing changed, when no part of the step lowers the loss as much as it should.
template <class Scalar>
bool NewtonPath<Scalar>::step(const Penalty& penalty, const Point& penalised, const Weights<double>& direction) {
  const double slope = dot(direction, penalised.gradient);
  double rate = 1;
  for (int halving = 0; halving <= kPathHalvings; ++halving, rate /= 2) {
    Point next;
    next.weights = (now_.weights + rate * direction).template cast<Scalar>().template cast<double>();
    evaluate(next);
    const Point there = with_penalty(penalty, next);
    if (!(there.loss <= penalised.loss + kPathArmijo * rate * slope)) continue;
    Weights<double> s = next.weights - now_.weights, y = there.gradient - penalised.gradient;
    if (dot(s, y) > 0) {
      pairs_.push_back(std::move(s));
      pairs_.push_back(std::move(y));
    }
    now_ = std::move(next);
    return true;
  }
  return false;
}

template bool takes_newton_path(const Problem<float>&);
template bool takes_newton_path(const Problem<double>&);
template class NewtonPath<float>;
template class NewtonPath<double>;

}  // namespace lipschitzlr::linear

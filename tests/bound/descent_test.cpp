#include "lipschitzlr/bound/descent.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>
#include <limits>

#include "bound/plain_models.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/gradient.hpp"
#include "lipschitzlr/bound/norms.hpp"

namespace lipschitzlr::bound {
namespace {

using plain::Kind;
using plain::Numbers;
using plain::Problem;

double least_squares_optimum(const Problem& problem) {
  const DenseMatrix<double> x = problem.matrix();
  const Vector<double> y = Eigen::Map<const Vector<double>>(problem.y.data(), static_cast<Index>(problem.y.size()));
  const Vector<double> best = x.colPivHouseholderQr().solve(y);
  return plain::loss(problem, Numbers(best.begin(), best.end()));
}

TEST(Descent, GradientDescentWithOneOverBetaKeepsBothPromises) {
  const Problem problem = plain::random_problem(Kind::linear, 41, 30, 5);
  const double beta =
      least_squares_smoothness(spectral_norm(problem.matrix()).upper(), static_cast<Index>(problem.rows())).value;
  Numbers w(problem.weights(), 2.0);
  const double gap = plain::loss(problem, w) - least_squares_optimum(problem);
  double smallest_square = std::numeric_limits<double>::infinity();
  for (int step = 1; step <= 200; ++step) {
    const double before = plain::loss(problem, w);
    const Numbers g = plain::gradient(problem, w);
    smallest_square = std::min(smallest_square, plain::norm(g) * plain::norm(g));
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= g[j] / beta;
    EXPECT_TRUE(descent_holds(before, plain::loss(problem, w), promised_descent(plain::norm(g), beta)));
    // After n steps, whatever epsilon asks for at most n of them has been reached.
    const double epsilon = 2 * beta * gap / step;
    EXPECT_LE(iteration_bound(beta, gap, epsilon * (1 + 1e-12)), step);
    EXPECT_LE(smallest_square, epsilon);
  }
}

TEST(Descent, TheBoundIsAboutTheSquaredGradient) {
  // f(w) = beta/2 w^2 with a smaller curvature than promised: the gradient shrinks slowly. n for epsilon = 0.01 brings
  // ||grad||^2 under 0.01, while ||grad|| itself, as the paper's closing line has it, is still above.
  const double beta = 1000, curvature = 1;
  double w = 0.5;
  const double gap = curvature / 2 * w * w, epsilon = 0.01;
  const double steps = iteration_bound(beta, gap, epsilon);
  EXPECT_EQ(steps, 25000);
  double smallest = std::numeric_limits<double>::infinity();
  for (double step = 0; step < steps && smallest * smallest > epsilon; ++step) {
    smallest = std::min(smallest, curvature * w);
    w -= curvature * w / beta;
  }
  EXPECT_LE(smallest * smallest, epsilon);
  EXPECT_GT(smallest, epsilon);
}

TEST(Descent, AStepTooLongBreaksThePromise) {
  // f(w) = w^2/2, beta = 1, from w = 1: the rate 1 reaches 0 exactly, the rate 1.5 gives only 0.375 of the 0.5.
  const double promised = promised_descent(1, 1);
  EXPECT_DOUBLE_EQ(promised, 0.5);
  EXPECT_TRUE(descent_holds(0.5, 0, promised));
  EXPECT_FALSE(descent_holds(0.5, 0.125, promised));
}

TEST(Descent, SlackForgivesRoundingAndNothingElse) {
  EXPECT_TRUE(descent_holds(1, 0.5 + 1e-13, 0.5));
  EXPECT_FALSE(descent_holds(1, 0.5 + 1e-11, 0.5));
  EXPECT_TRUE(descent_holds(1, 0.5 + 1e-7, 0.5, 1e-6));
  EXPECT_FALSE(descent_holds(1, std::nan(""), 0.5));
  EXPECT_FALSE(descent_holds(1, std::numeric_limits<double>::infinity(), 0.5));
}

TEST(Descent, IterationBoundRoundsUpAndRefusesNonsense) {
  EXPECT_EQ(iteration_bound(2, 3, 5), 3);  // 12/5
  EXPECT_EQ(iteration_bound(2, 0, 5), 0);
  EXPECT_THROW(iteration_bound(-1, 3, 5), Error);
  EXPECT_THROW(iteration_bound(1, -3, 5), Error);
  EXPECT_THROW(iteration_bound(1, 3, 0), Error);
  EXPECT_THROW(iteration_bound(1, std::nan(""), 1), Error);
}

}  // namespace
}  // namespace lipschitzlr::bound

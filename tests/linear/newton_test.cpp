#include "lipschitzlr/linear/newton.hpp"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "base/thread_communicator.hpp"
#include "linear/problems.hpp"
#include "linear/spread.hpp"

namespace lipschitzlr::linear {
namespace {

using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;

const SolverOptions kTight{.gap_tolerance = 1e-10};
constexpr Family kAllFamilies[] = {Family::linear, Family::logistic, Family::softmax};

// The penalised loss in long double, with gradient and Hessian of all weights (stacked by outputs) by plain loops.
struct Exact {
  Real loss = 0;
  RealMatrix gradient, hessian;
};

Exact evaluate_exactly(const Problem<double>& problem, const RealMatrix& w) {
  const RealMatrix x = std::get<DenseMatrix<double>>(problem.matrix()).cast<Real>();
  const Index n = w.rows(), k = w.cols(), m = x.rows();
  const Penalty& penalty = problem.setup().penalty;
  Exact exact{0, RealMatrix::Zero(n * k, 1), RealMatrix::Zero(n * k, n * k)};
  for (Index i = 0; i < m; ++i) {
    const Eigen::Matrix<Real, 1, Eigen::Dynamic> z = x.row(i) * w;
    const Real y = problem.targets()[i];
    RealMatrix residual(k, 1), curvature(k, k);
    if (problem.setup().family == Family::linear) {
      residual << z[0] - y;
      curvature << 1;
      exact.loss += residual(0) * residual(0) / 2;
    } else if (problem.setup().family == Family::logistic) {
      const Real p = 1 / (1 + std::exp(-z[0]));
      residual << p - y;
      curvature << p * (1 - p);
      exact.loss += std::max<Real>(z[0], 0) + std::log1p(std::exp(-std::abs(z[0]))) - y * z[0];
    } else {
      RealMatrix p = (z.array() - z.maxCoeff()).exp().matrix().transpose();
      exact.loss += z.maxCoeff() + std::log(p.sum()) - z[static_cast<Index>(y)];
      p /= p.sum();
      residual = p;
      residual(static_cast<Index>(y)) -= 1;
      curvature = RealMatrix(p.col(0).asDiagonal()) - p * p.transpose();
    }
    for (Index a = 0; a < k; ++a) {
      exact.gradient.middleRows(a * n, n) += residual(a) * x.row(i).transpose();
      for (Index b = 0; b < k; ++b) {
        exact.hessian.block(a * n, b * n, n, n) += curvature(a, b) * x.row(i).transpose() * x.row(i);
      }
    }
  }
  exact.loss /= m;
  exact.gradient /= m;
  exact.hessian /= m;
  for (Index a = 0; a < k; ++a) {
    for (Index j = 0; j < n - (penalty.spare_last ? 1 : 0); ++j) {
      exact.loss += static_cast<Real>(penalty.l2) / 2 * w(j, a) * w(j, a);
      exact.gradient(a * n + j) += static_cast<Real>(penalty.l2) * w(j, a);
      exact.hessian(a * n + j, a * n + j) += static_cast<Real>(penalty.l2);
    }
  }
  return exact;
}

// The lowest loss that a damped Newton method in long double finds.
Real lowest_loss(const Problem<double>& problem) {
  RealMatrix w = RealMatrix::Zero(problem.features(), problem.setup().classes);
  Exact now = evaluate_exactly(problem, w);
  for (int iteration = 0; iteration < 60 && now.gradient.norm() > 1e-18L; ++iteration) {
    const RealMatrix step = now.hessian.completeOrthogonalDecomposition().solve(now.gradient);
    Real rate = 1;
    Exact next;
    for (; rate > 1e-6L; rate /= 2) {
      next = evaluate_exactly(problem, w - rate * step.reshaped(w.rows(), w.cols()));
      if (next.loss < now.loss) break;
    }
    if (!(next.loss < now.loss)) break;
    w -= rate * step.reshaped(w.rows(), w.cols());
    now = next;
  }
  return now.loss;
}

struct Drawn {
  std::unique_ptr<Problem<double>> problem;
  SolverOptions options;
  State<double> start;
};

// Any family, size and penalty, with an intercept that may be spared, stopped after any number of steps.
Drawn draw(std::uint64_t seed, ThreadPool& pool) {
  Random random(seed);
  const Family family = kAllFamilies[random.below(3)];
  const Index classes = family == Family::softmax ? 2 + static_cast<Index>(random.below(3)) : 1;
  const Index n = 1 + static_cast<Index>(random.below(4)), m = 3 + static_cast<Index>(random.below(40));
  DenseMatrix<double> x(m, n + 1);
  for (double& value : x.reshaped()) value = std::pow(10.0, 2 * random.uniform() - 1) * random.normal();
  x.col(n).setConstant(random.below(2) == 0 ? 1 : 0.1);
  Vector<double> y(m);
  for (double& value : y) {
    value = family == Family::linear
                ? 3 * random.normal()
                : static_cast<double>(random.below(static_cast<std::uint64_t>(std::max<Index>(2, classes))));
  }
  Penalty penalty{random.below(5) == 0 ? 0 : std::pow(10.0, -6 * random.uniform()), {}, random.below(2) == 0};
  Drawn drawn;
  drawn.problem = std::make_unique<Problem<double>>(x, y, ProblemSetup{family, classes, penalty, 0}, pool);
  drawn.options.epochs = static_cast<std::int64_t>(random.below(9));
  drawn.options.gap_tolerance = 1e-14;
  drawn.start.weights = drawn.problem->zero_weights();
  if (random.below(2) == 0) {
    for (double& weight : drawn.start.weights.reshaped()) weight = random.normal();
  }
  return drawn;
}

TEST(Newton, TheCertificateIsNeverWrong) {
  ThreadPool pool(1);
  int proven = 0, tight = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Drawn drawn = draw(seed, pool);
    const auto outcome = solve_newton(*drawn.problem, drawn.options, drawn.start);
    if (!std::isfinite(outcome.certified_gap)) continue;
    const RealMatrix w = outcome.state.weights.cast<Real>();
    const Real gap = evaluate_exactly(*drawn.problem, w).loss - lowest_loss(*drawn.problem);
    EXPECT_LE(gap, static_cast<Real>(outcome.certified_gap) + 1e-18L)
        << "seed " << seed << ", " << to_string(drawn.problem->setup().family) << ", l2 "
        << drawn.problem->setup().penalty.l2 << ", after " << outcome.last.step;
    ++proven;
    tight += outcome.certified_gap < 1e-8 * (1 + outcome.last.loss);
  }
  EXPECT_GT(proven, 1000);
  EXPECT_GT(tight, 500);
}

TEST(Newton, FindsTheOptimumOfEveryFamilyAndProvesIt) {
  ThreadPool pool(1);
  for (Family family : kAllFamilies) {
    for (const double l2 : {1e-3, 0.1}) {
      for (const bool spare : {false, true}) {
        const auto problem = random_problem(family, pool, 80, 5, {l2, {}, spare});
        const auto outcome = solve_newton(*problem, kTight, State<double>{});
        EXPECT_EQ(outcome.stop, Stop::certified) << to_string(family);
        EXPECT_LT(outcome.last.step, 12);
        const Real lowest = lowest_loss(*problem);
        EXPECT_LT(std::abs(static_cast<Real>(outcome.last.loss) - lowest), 1e-10L * lowest);
        Weights<double> gradient;
        problem->evaluate(outcome.state.weights, gradient);
        EXPECT_LT(gradient.norm(), 1e-5);
      }
    }
  }
}

TEST(Newton, ASparedLastRowIsAGammaWithAZeroThere) {
  ThreadPool pool(1);
  const double l2 = 0.3;
  Vector<double> diagonal = Vector<double>::Constant(4, std::sqrt(l2 / 2));
  diagonal[3] = 0;
  for (Family family : kAllFamilies) {
    const auto spared = random_problem(family, pool, 60, 4, {l2, {}, true});
    const auto tikhonov = random_problem(family, pool, 60, 4, {0, bound::Tikhonov(diagonal)});
    const Weights<double> weights = random_matrix(4, spared->setup().classes, 3);
    Weights<double> one, other;
    EXPECT_NEAR(spared->evaluate(weights, one), tikhonov->evaluate(weights, other), 1e-12);
    EXPECT_LT((one - other).norm(), 1e-12);
    EXPECT_LT((penalty_curvature(spared->setup().penalty, 4) - penalty_curvature(tikhonov->setup().penalty, 4)).norm(),
              1e-12);
    EXPECT_LT((solve_newton(*spared, kTight, State<double>{}).state.weights -
               solve_newton(*tikhonov, kTight, State<double>{}).state.weights)
                  .norm(),
              1e-4);
  }
}

TEST(Newton, SparseAndFloatFeaturesGiveTheSameModel) {
  ThreadPool pool(2);
  for (Family family : kAllFamilies) {
    const auto dense = spread_problem<double>(family, true, pool, nullptr);
    const auto& matrix = std::get<SparseMatrix<double>>(dense->matrix());
    const Problem<double> full(DenseMatrix<double>(matrix), dense->targets(), dense->setup(), pool);
    const auto single = spread_problem<float>(family, true, pool, nullptr);
    const Weights<double> weights = solve_newton(full, kTight, State<double>{}).state.weights;
    EXPECT_LT((solve_newton(*dense, kTight, State<double>{}).state.weights - weights).norm(), 1e-6);
    const auto outcome = solve_newton(*single, {.gap_tolerance = 1e-8}, State<float>{});
    EXPECT_EQ(outcome.stop, Stop::certified);
    EXPECT_LT((outcome.state.weights.cast<double>() - weights).norm(), 1e-3);
  }
}

TEST(Newton, ThreadsDoNotChangeABitAndProcessesHardlyADigit) {
  for (Family family : kAllFamilies) {
    ThreadPool one(1);
    const auto alone = random_problem(family, one, 3000, 9, {0.01, {}});
    const auto expected = solve_newton(*alone, {}, State<double>{}).state.weights;
    for (const unsigned threads : {2u, 7u}) {
      ThreadPool pool(threads);
      EXPECT_EQ(solve_newton(*random_problem(family, pool, 3000, 9, {0.01, {}}), {}, State<double>{}).state.weights,
                expected);
    }
    for (const bool sparse : {false, true}) {
      const auto single = solve_newton(*spread_problem<double>(family, sparse, one, nullptr), {}, State<double>{});
      const auto all = test::run_threads<Outcome<double>>(3, [&](Communicator& communicator) {
        ThreadPool pool(1);
        return solve_newton(*spread_problem<double>(family, sparse, pool, &communicator), {}, State<double>{});
      });
      for (const auto& outcome : all) {
        EXPECT_EQ(outcome.state.weights, all[0].state.weights);
        EXPECT_EQ(outcome.stop, single.stop);
        EXPECT_LT((outcome.state.weights - single.state.weights).norm(), 1e-9 * single.state.weights.norm());
      }
    }
  }
}

TEST(Newton, AResumedRunHasTheSameBits) {
  ThreadPool pool(1);
  for (Family family : {Family::logistic, Family::softmax}) {
    const auto problem = random_problem(family, pool, 60, 5, {1e-4, {}});
    const auto whole = solve_newton(*problem, kTight, State<double>{});
    const auto half = solve_newton(*problem, {.epochs = 2}, State<double>{});
    EXPECT_EQ(half.stop, Stop::epochs);
    const auto rest = solve_newton(*problem, kTight, state_from_json<double>(to_json(half.state), "test"));
    EXPECT_EQ(rest.state.weights, whole.state.weights);
    EXPECT_EQ(rest.last.step, whole.last.step);
  }
}

TEST(Newton, APerfectFitIsProvenToRounding) {
  ThreadPool pool(1);
  const DenseMatrix<double> x = random_matrix(40, 3, 33);
  const Vector<double> y = x * Vector<double>{{3, -0.7, 1e3}};
  const Problem<double> problem(x, y, {Family::linear, 1, {}, 0}, pool);
  const auto outcome = solve(problem, {}, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  EXPECT_EQ(outcome.verdict, "a perfect fit: the loss is 0 to rounding (certified)");
}

TEST(Newton, SeparableClassesWithoutAPenaltyHaveNoOptimum) {
  ThreadPool pool(1);
  const DenseMatrix<double> x{{-2, 1}, {-1, 1}, {1, 1}, {3, 1}};
  const Vector<double> y{{0, 0, 1, 1}};
  const Problem<double> logistic(x, y, {Family::logistic, 1, {}, 0}, pool);
  const Problem<double> softmax(x, y, {Family::softmax, 2, {}, 0}, pool);
  const Problem<double> penalised(x, y, {Family::logistic, 1, {0.1, {}, true}, 0}, pool);
  EXPECT_EQ(solve_newton(logistic, {}, State<double>{}).stop, Stop::separable);
  EXPECT_EQ(solve_newton(softmax, {}, State<double>{}).stop, Stop::separable);
  EXPECT_EQ(solve_newton(penalised, {}, State<double>{}).stop, Stop::certified);
}

TEST(Newton, LeastSquaresHandlesCollinearConstantAndExtremeColumns) {
  ThreadPool pool(1);
  DenseMatrix<double> x = random_matrix(50, 6, 31);
  x.col(2) = x.col(0);
  x.col(3).setZero();
  x.col(4) *= 1e12;
  x.col(5) *= 1e-12;
  const Vector<double> y = random_matrix(50, 1, 32).col(0);
  const Problem<double> problem(x, y, {Family::linear, 1, {}, 0}, pool);
  const auto outcome = solve_newton(problem, kTight, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  const Weights<double>& w = outcome.state.weights;
  EXPECT_NEAR(w(0), w(2), 1e-9);  // the least norm shares the weight out evenly
  EXPECT_EQ(w(3), 0);
  const DenseMatrix<double> kept{{1, 0, 0, 0}, {0, 1, 0, 0},     {0, 0, 0, 0},
                                 {0, 0, 0, 0}, {0, 0, 1e-12, 0}, {0, 0, 0, 1e12}};
  const Vector<double> exact = (x * kept).householderQr().solve(y);
  EXPECT_NEAR(w(0) + w(2), exact[0], 1e-8);
  EXPECT_NEAR(w(1), exact[1], 1e-8);
  EXPECT_NEAR(w(4) * 1e12, exact[2], 1e-8);
  EXPECT_NEAR(w(5) * 1e-12, exact[3], 1e-8);
}

}  // namespace
}  // namespace lipschitzlr::linear

// The certificate of every solver that has one, over random problems of every kind, beside the minimum in long double.
#include "linear/certificate.hpp"

#include <gtest/gtest.h>

#include <array>

#include "linear/exact.hpp"
#include "linear/problems.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kCertifiedFamilies[] = {Family::linear, Family::logistic, Family::softmax};
constexpr int kProblems = 2400;

template <class Scalar>
struct DrawnProblem {
  std::unique_ptr<Problem<Scalar>> problem;
  SolverOptions options;
  State<Scalar> start;
};

double power_of_ten(Random& random, double from, double to) {
  return std::pow(10, from + (to - from) * random.uniform());
}

// None, L2, L1 or both, with an intercept that may be spared.
Penalty draw_penalty(Random& random) {
  Penalty penalty;
  penalty.spare_last = random.below(2) == 0;
  const std::uint64_t kind = random.below(8);  // more of those with L1
  if (kind == 1 || kind == 2 || kind >= 6) penalty.l2 = power_of_ten(random, -6, 0);
  if (kind >= 3) penalty.l1 = power_of_ten(random, -3, 0);
  return penalty;
}

// None, whole numbers with zeros among them, or any numbers.
Vector<double> draw_weights(Random& random, Index rows) {
  const std::uint64_t kind = random.below(3);
  Vector<double> weights(kind == 0 ? 0 : rows);
  for (double& weight : weights) {
    weight = kind == 1 ? static_cast<double>(random.below(4)) : power_of_ten(random, -2, 2);
  }
  if (kind == 1) weights[0] = 1;
  return weights;
}

// Any family and size, columns of different lengths, stopped after any number of steps.
template <class Scalar>
DrawnProblem<Scalar> draw_problem(std::uint64_t seed, ThreadPool& pool) {
  Random random(seed);
  const Family family = kCertifiedFamilies[random.below(3)];
  const Index classes = family == Family::softmax ? 2 + static_cast<Index>(random.below(3)) : 1;
  const Index n = 1 + static_cast<Index>(random.below(4)), m = 3 + static_cast<Index>(random.below(30));
  DenseMatrix<double> x(m, n + 1);
  for (double& value : x.reshaped()) value = power_of_ten(random, -1, 1) * random.normal();
  x.col(n).setConstant(random.below(2) == 0 ? 1 : 0.1);
  Vector<double> y(m);
  for (double& value : y) {
    value = family == Family::linear
                ? 3 * random.normal()
                : static_cast<double>(random.below(static_cast<std::uint64_t>(std::max<Index>(2, classes))));
  }
  DrawnProblem<Scalar> drawn;
  const Penalty penalty = draw_penalty(random);
  drawn.problem = std::make_unique<Problem<Scalar>>(
      DenseMatrix<Scalar>(x.template cast<Scalar>()), Vector<Scalar>(y.template cast<Scalar>()),
      ProblemSetup{family, classes, penalty, 0}, pool, nullptr, draw_weights(random, m));
  drawn.options.solver = penalty.l1 > 0 ? std::array{Solver::coordinate, Solver::fista}[random.below(2)]
                                        : std::array{Solver::newton, Solver::lbfgs, Solver::fista}[random.below(3)];
  drawn.options.epochs = static_cast<std::int64_t>(random.below(9));
  drawn.options.gap_tolerance = seed % 3 == 0 ? 1e-14 : 1e-8;
  drawn.start.weights = drawn.problem->zero_weights();
  if (random.below(2) == 0) {
    for (Scalar& weight : drawn.start.weights.reshaped()) weight = static_cast<Scalar>(random.normal());
  }
  return drawn;
}

struct Count {
  int proven = 0, tight = 0, with_l1 = 0;
};

template <class Scalar>
void check_certificate(std::uint64_t seed, ThreadPool& pool, Count& count) {
  const DrawnProblem<Scalar> drawn = draw_problem<Scalar>(seed, pool);
  const auto outcome = solve(*drawn.problem, drawn.options, drawn.start);
  if (!std::isfinite(outcome.certified_gap)) return;
  const Penalty& penalty = drawn.problem->setup().penalty;
  const ExactMinimum<Scalar> minimum(*drawn.problem);
  const RealMatrix w = outcome.state.weights.template cast<Real>();
  const Real gap = evaluate_exactly(*drawn.problem, w).loss - minimum.loss();
  EXPECT_LE(gap, static_cast<Real>(outcome.certified_gap) + 1e-18L)
      << "seed " << seed << ", " << to_string(drawn.problem->setup().family) << ", " << to_string(drawn.options.solver)
      << ", l2 " << penalty.l2 << ", l1 " << penalty.l1 << ", after " << outcome.last.step;
  ++count.proven;
  count.with_l1 += penalty.l1 > 0;
  count.tight += outcome.certified_gap < 1e-8 * (1 + outcome.last.loss);
}

TEST(Certificate, IsNeverWrong) {
  ThreadPool pool(1);
  Count count;
  for (std::uint64_t seed = 1; seed <= kProblems; ++seed) {
    if (seed % 4 == 0) {
      check_certificate<float>(seed, pool, count);
    } else {
      check_certificate<double>(seed, pool, count);
    }
  }
  EXPECT_GT(count.proven, 1800);
  EXPECT_GT(count.with_l1, 1000);
  EXPECT_GT(count.tight, 400);
}

// Otherwise a certificate could be wrong and nobody would know.
TEST(Certificate, TheReferenceIsAnOptimum) {
  ThreadPool pool(1);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto drawn = draw_problem<double>(seed, pool);
    if (drawn.problem->setup().penalty.empty()) continue;  // there may be none
    const ExactMinimum<double> minimum(*drawn.problem);
    EXPECT_LT(minimum.violation(), 1e-8L) << "seed " << seed;
  }
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "linear/least_squares_sums.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "linear/exact.hpp"
#include "linear/problems.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

Vector<double> random_row_weights(Index rows) {
  Vector<double> weights = random_matrix(rows, 1, 23).col(0).cwiseAbs();
  weights[0] = 0;
  return weights;
}

// |x_i'Dx_j - computed| / |x_i||x_j| at most, against long double.
template <class Matrix>
Real largest_error(const Matrix& x, const Vector<double>& d, ThreadPool& pool) {
  const RealMatrix exact_x = DenseMatrix<typename Matrix::Scalar>(x).template cast<Real>();
  const RealMatrix weighed = d.size() == 0 ? exact_x : RealMatrix(d.cast<Real>().asDiagonal() * exact_x);
  const RealMatrix exact = exact_x.transpose() * weighed;
  const RealMatrix lengths = exact.diagonal().cwiseSqrt();
  const RealMatrix errors = (gram(x, d, pool).template cast<Real>() - exact).cwiseAbs();
  return errors.cwiseQuotient(lengths * lengths.transpose()).maxCoeff();
}

TEST(LeastSquaresSums, RoundingOfTheGramMatrixIsBelowItsBound) {
  ThreadPool pool(2);
  for (const auto& [rows, columns] : {std::pair<Index, Index>{3, 2}, {500, 9}, {7000, 4}}) {
    DenseMatrix<double> x = random_matrix(rows, columns, 21).array() + 3;  // every term of one sign: rounding adds up
    for (const Vector<double>& d : {Vector<double>(), random_row_weights(rows)}) {
      const DenseMatrix<float> floats = x.cast<float>();
      const SparseMatrix<double> sparse = x.sparseView();
      EXPECT_LE(largest_error(x, d, pool), gram_error(x, rows));
      EXPECT_LE(largest_error(floats, d, pool), gram_error(floats, rows));
      EXPECT_LE(largest_error(sparse, d, pool), gram_error(sparse, rows));
    }
  }
  EXPECT_LT(gram_error(DenseMatrix<double>(), 1000000), 2e-12);
}

template <class Scalar>
std::unique_ptr<Problem<Scalar>> shifted_problem(Index rows, double shift, double noise, Penalty penalty,
                                                 ThreadPool& pool) {
  DenseMatrix<double> x = random_matrix(rows, 5, 25);
  x.col(4).setOnes();
  Vector<double> y = x * Vector<double>{{2, -1, 0.5, 0, 3}} + noise * random_matrix(rows, 1, 26).col(0);
  x.leftCols(4).array() += shift;
  x.col(1) *= 1e9;
  return std::make_unique<Problem<Scalar>>(DenseMatrix<Scalar>(x.cast<Scalar>()), Vector<Scalar>(y.cast<Scalar>()),
                                           ProblemSetup{Family::linear, 1, penalty, 0}, pool, nullptr,
                                           random_row_weights(rows));
}

template <class Scalar>
void check_pass(ThreadPool& pool) {
  for (const Penalty& penalty : {Penalty{}, Penalty{1e-2, {}, true}, Penalty{0.3, {}, false}}) {
    const auto problem = shifted_problem<Scalar>(700, 0.5, 1, penalty, pool);
    const LeastSquaresSums sums(*problem);
    const Real lowest = ExactMinimum<Scalar>(*problem).loss();
    EXPECT_NEAR(sums.pass_at_zero().loss, full_pass(*problem, sums.pass_at_zero().weights).loss, 1e-12);
    for (const double distance : {0.0, 1e-6, 1.0}) {
      Weights<double> w = solve_newton(*problem, {}, State<Scalar>{}).state.weights.template cast<double>();
      w *= 1 + distance;
      const auto pass = sums.pass_at(w, 1e-8);
      ASSERT_TRUE(pass);
      const Exact exact = evaluate_exactly(*problem, w.cast<Real>());
      EXPECT_LT(std::abs(static_cast<Real>(pass->loss) - exact.loss), 1e-11L * exact.loss);
      EXPECT_LT((pass->gradient.template cast<Real>() - exact.gradient).norm(), 1e-11L * exact.hessian.norm());
      EXPECT_LE(exact.loss - lowest, static_cast<Real>(*pass->gap) + 1e-18L);
      EXPECT_LE(*pass->gap, 1.01 * static_cast<double>(exact.loss - lowest) + 1e-12 * pass->loss);
    }
  }
}

TEST(LeastSquaresSums, ASumKnowsThePassAndProvesTheGap) {
  ThreadPool pool(2);
  check_pass<double>(pool);
  check_pass<float>(pool);
}

TEST(LeastSquaresSums, WhereRoundingShowsTheRowsAreAsked) {
  ThreadPool pool(1);
  const auto at_optimum = [](const Problem<double>& problem) {
    return LeastSquaresSums(problem).pass_at(solve_newton(problem, {}, State<double>{}).state.weights, 1e-8);
  };
  const auto plain = shifted_problem<double>(300, 0, 1, {}, pool);
  EXPECT_TRUE(at_optimum(*plain));
  EXPECT_FALSE(LeastSquaresSums(*plain).pass_at(plain->zero_weights(), 1e-15)) << "a proof finer than rounding";
  EXPECT_FALSE(at_optimum(*shifted_problem<double>(300, 1e7, 1, {}, pool)))
      << "columns far from 0: collinear to rounding";
  EXPECT_FALSE(at_optimum(*shifted_problem<double>(300, 0, 1e-7, {}, pool))) << "a loss that is all rounding";
}

TEST(LeastSquaresSums, AFitReadsTheRowsOnce) {
  ThreadPool pool(1);
  const auto held = random_problem(Family::linear, pool, 900, 7, {1e-3, {}, true});
  const DenseMatrix<double> x = std::get<DenseMatrix<double>>(held->matrix());
  std::atomic<Index> read = 0;
  const StreamedRows<double> rows(x.rows(), x.cols(), [&](const Index*, Index first, Index count, double* to) {
    read += count;
    Eigen::Map<DenseMatrix<double>>(to, count, x.cols()) = x.middleRows(first, count);
  });
  const Problem<double> problem(rows, held->targets(), held->setup(), pool);
  const auto outcome = solve_newton(problem, {}, State<double>{});
  EXPECT_EQ(outcome.stop, Stop::certified);
  EXPECT_EQ(read, x.rows());
  EXPECT_EQ(outcome.state.weights, solve_newton(*held, {}, State<double>{}).state.weights);
}

}  // namespace
}  // namespace lipschitzlr::linear

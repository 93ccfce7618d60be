#include "linear/least_squares_path.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "linear/problems.hpp"
#include "linear/shifted_systems.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/cross_validation.hpp"
#include "lipschitzlr/linear/held_rows.hpp"

namespace lipschitzlr::linear {
namespace {

using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

data::Table table_of(DenseMatrix<double> x, double noise, std::uint64_t seed = 7) {
  data::Table table;
  Random random(seed);
  table.target.resize(x.rows());
  for (Index i = 0; i < x.rows(); ++i) table.target[i] = 3 + 0.5 * x.row(i).sum() + x(i, 0) + noise * random.normal();
  for (Index j = 0; j < x.cols(); ++j) table.feature_names.push_back("x" + std::to_string(j));
  table.features = std::move(x);
  return table;
}

Rounds folds_of(const data::Table& table, int count) {
  Random random(1);
  Rounds rounds;
  for (auto& fold : data::deal_rows(table, count, random)) rounds.push_back({fold});
  return rounds;
}

FitOptions with_intercept(data::Scaling scaling = data::Scaling::standard) {
  FitOptions options;
  options.scaling = scaling;
  options.penalty.spare_last = true;
  return options;
}

// One training after the other, in long double: the rows without the parts, their means and deviations, the normal
// equations with the intercept as a column, the mean loss of each part.
Eigen::MatrixXd trained_one_by_one(const data::Table& table, const FitOptions& options,
                                   const std::vector<std::vector<Index>>& parts, const std::vector<double>& lambdas) {
  const RealMatrix x = std::get<DenseMatrix<double>>(table.features).cast<Real>();
  RealVector weights = options.row_weights.size() == 0 ? RealVector(RealVector::Ones(x.rows()))
                                                       : RealVector(options.row_weights.cast<Real>());
  const RealVector all_weights = weights;
  for (const auto& part : parts) weights(part).setZero();
  const Real total = weights.sum();
  RealMatrix design(x.rows(), x.cols() + (options.intercept ? 1 : 0));
  for (Index j = 0; j < x.cols(); ++j) {
    design.col(j) = x.col(j);
    if (options.scaling != data::Scaling::standard) continue;
    Real low = INFINITY, high = -INFINITY;
    for (Index i = 0; i < x.rows(); ++i) {
      if (weights[i] > 0) low = std::min(low, x(i, j)), high = std::max(high, x(i, j));
    }
    const Real mean = low == high ? low : x.col(j).dot(weights) / total;
    design.col(j).array() -= mean;
    if (low < high) design.col(j) /= std::sqrt(design.col(j).cwiseAbs2().dot(weights) / total);
  }
  if (options.intercept) design.rightCols(1).setOnes();
  const RealVector y = table.target.cast<Real>();
  const RealMatrix matrix = design.transpose() * weights.asDiagonal() * design / total;
  Eigen::MatrixXd losses(static_cast<Index>(parts.size()), static_cast<Index>(lambdas.size()));
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    RealVector penalty = RealVector::Constant(design.cols(), lambdas[i] + options.penalty.l2);
    if (options.penalty.spare_last) penalty[design.cols() - 1] = 0;
    const RealMatrix curvature = matrix + RealMatrix(penalty.asDiagonal());
    const RealVector w = curvature.ldlt().solve(design.transpose() * weights.cwiseProduct(y) / total);
    const RealVector squares = (design * w - y).cwiseAbs2();
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const RealVector own = all_weights(parts[part]);
      losses(static_cast<Index>(part), static_cast<Index>(i)) =
          static_cast<double>(own.dot(squares(parts[part])) / (2 * own.sum()));
    }
  }
  return losses;
}

void expect_the_curve(const data::Table& table, const FitOptions& options, const Rounds& rounds, const char* what) {
  std::vector<double> lambdas;
  for (double lambda = 10; lambda > 1e-7; lambda /= 4) lambdas.push_back(lambda);
  std::vector<Eigen::MatrixXd> first;
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    const auto path = least_squares_path(table, options, rounds, pool);
    ASSERT_TRUE(path) << what;
    const std::vector<Eigen::MatrixXd> losses = path->losses(0, rounds.size(), lambdas);
    if (first.empty()) first = losses;
    EXPECT_EQ(losses, first) << what << ", threads: " << threads;
  }
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const Eigen::MatrixXd slow = trained_one_by_one(table, options, rounds[round], lambdas);
    for (Index i = 0; i < slow.size(); ++i) {
      EXPECT_NEAR(first[round].reshaped()[i], slow.reshaped()[i], 1e-8 * slow.reshaped()[i]) << what << ", " << i;
    }
  }
}

TEST(LeastSquaresPath, TheCurveIsThatOfOneTrainingAfterTheOther) {
  const data::Table table = table_of(random_matrix(83, 7, 3), 0.5);
  const Rounds folds = folds_of(table, 5);
  expect_the_curve(table, with_intercept(), folds, "standard");
  FitOptions options = with_intercept(data::Scaling::none);
  options.penalty.l2 = 0.01;  // part of every model
  expect_the_curve(table, options, folds, "none");
  options.penalty.spare_last = false;
  expect_the_curve(table, options, folds, "an intercept with a penalty");
  options.intercept = false;
  expect_the_curve(table, options, folds, "no intercept");
  const Rounds one_split = {{folds[0][0], folds[1][0]}};
  expect_the_curve(table, with_intercept(), one_split, "one split in two parts");
}

TEST(LeastSquaresPath, TheCurveOfMoreColumnsThanRowsIsTheSame) {
  const data::Table table = table_of(random_matrix(23, 60, 3), 0.5);
  const Rounds folds = folds_of(table, 5);
  expect_the_curve(table, with_intercept(), folds, "standard");
  expect_the_curve(table, with_intercept(data::Scaling::none), folds, "none");
  expect_the_curve(table, with_intercept(), {{folds[0][0], folds[1][0]}}, "one split in two parts");
}

TEST(LeastSquaresPath, WeightsOfRowsCount) {
  for (const Index columns : {5, 50}) {
    const data::Table table = table_of(random_matrix(31, columns, 3), 0.5);
    FitOptions options = with_intercept();
    options.row_weights = random_matrix(31, 1, 9).cwiseAbs();
    options.row_weights[4] = 0;
    expect_the_curve(table, options, folds_of(table, 4), columns == 5 ? "tall" : "wide");
  }
}

// What would cost digits if only differences of sums were used.
TEST(LeastSquaresPath, NoColumnCostsDigits) {
  for (const Index columns : {6, 60}) {
    DenseMatrix<double> x = random_matrix(40, columns, 3);
    x.col(0).array() += 1e6;    // a mean far from 0
    x.col(1) *= 1e-9;           // small
    x.col(2).setConstant(0.1);  // constant
    x.col(3).setZero();         // constant without one row
    x(17, 3) = 1;
    x(8, 4) = 1e7;  // an outlier, without which the column is small
    data::Table table = table_of(random_matrix(40, columns, 4), 0.5);
    table.features = x;
    expect_the_curve(table, with_intercept(), folds_of(table, 5), columns == 6 ? "tall" : "wide");
  }
}

TEST(LeastSquaresPath, TheLossOfAnAlmostPerfectFitIsThatOfTheResiduals) {
  const data::Table table = table_of(random_matrix(60, 4, 3), 1e-7);
  expect_the_curve(table, with_intercept(), folds_of(table, 5), "standard");
}

// Each training from its own rows, by the solver that reads them in every step.
TEST(LeastSquaresPath, TheCurveOfL1IsThatOfOneTrainingAfterTheOther) {
  const data::Table table = table_of(random_matrix(83, 7, 3), 0.5);
  const Rounds rounds = folds_of(table, 4);
  ThreadPool pool(2);
  for (const data::Scaling scaling : {data::Scaling::standard, data::Scaling::none}) {
    for (const double share : {0.4, 1.0}) {
      FitOptions options = with_intercept(scaling);
      options.l1_share = share;
      options.penalty.l2 = 0.01;
      const auto path = least_squares_path(table, options, rounds, pool);
      ASSERT_TRUE(path);
      const double first = path->first_lambda();
      const std::vector<double> lambdas = {first, first / 3, first / 20, first / 400, first / 5000};
      const std::vector<Eigen::MatrixXd> losses = path->losses(0, rounds.size(), lambdas);
      for (std::size_t round = 0; round < rounds.size(); ++round) {
        std::vector<Index> kept;
        for (Index row = 0; row < table.rows(); ++row) {
          if (!std::ranges::binary_search(rounds[round][0], row)) kept.push_back(row);
        }
        const data::Table train = data::take_rows(table, kept);
        const Preparation preparation = prepare(train, Family::linear, options);
        const auto problem = make_problem<double>(train, preparation, pool);
        const HeldRows held(data::take_rows(table, rounds[round][0]), preparation.scaler, {});
        for (std::size_t i = 0; i < lambdas.size(); ++i) {
          problem->set_penalty(with_elastic_net(options.penalty, lambdas[i], share));
          const auto outcome = solve(*problem, {.gap_tolerance = 1e-13}, State<double>{});
          const double expected = held.loss(problem->setup(), outcome.weights(), pool);
          EXPECT_NEAR(losses[round](0, static_cast<Index>(i)), expected, 1e-3 * expected) << "lambda " << i;
        }
      }
    }
  }
}

TEST(LeastSquaresPath, BetaIsTheLargestEigenvalueOfTheScaledDesign) {
  for (const Index columns : {5, 60}) {
    const data::Table table = table_of(random_matrix(35, columns, 3), 0.5);
    ThreadPool pool(2);
    const Rounds folds = folds_of(table, 5);
    const FitOptions options = with_intercept();
    const auto problem = make_problem<double>(table, prepare(table, Family::linear, options), pool);
    const auto& design = std::get<DenseMatrix<double>>(problem->matrix());
    const Eigen::MatrixXd matrix = design.transpose() * design / 35;
    const double largest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix).eigenvalues()[columns];
    EXPECT_NEAR(least_squares_path(table, options, folds, pool)->first_lambda(), largest, 1e-9 * largest);
  }
}

TEST(LeastSquaresPath, WhatItCannotDoIsLeftToOthers) {
  data::Table table = table_of(random_matrix(30, 4, 3), 0.5);
  const Rounds folds = folds_of(table, 5);
  ThreadPool pool(1);
  FitOptions options = with_intercept();
  EXPECT_NE(least_squares_path(table, options, folds, pool), nullptr);
  options.l1_share = 0.5;
  const data::Table wide = table_of(random_matrix(30, 40, 3), 0.5);
  EXPECT_EQ(least_squares_path(wide, options, folds, pool), nullptr);
  options.penalty.l1 = 0.1;
  EXPECT_EQ(least_squares_path(table, options, folds, pool), nullptr);
  EXPECT_EQ(least_squares_path(table, with_intercept(data::Scaling::min_max), folds, pool), nullptr);
  table.features = SparseMatrix<double>(std::get<DenseMatrix<double>>(table.features).sparseView());
  EXPECT_EQ(least_squares_path(table, with_intercept(data::Scaling::none), folds, pool), nullptr);
}

TEST(ShiftedSystems, SolveEveryShiftAndStopWhenTheyAreProven) {
  const DenseMatrix<double> x = random_matrix(900, 60, 3);
  const DenseMatrix<double> matrix = x.transpose() * x / 900;
  const Vector<double> right = random_matrix(60, 1, 5);
  const std::vector<double> shifts = {10, 0.1, 1e-3, 1e-8};
  const ShiftedSystems systems(matrix, right, 1e-8);
  EXPECT_LT(systems.steps(), 45) << "well-conditioned";
  const Eigen::MatrixXd found = systems.solve(shifts);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const Eigen::MatrixXd shifted = matrix + shifts[i] * Eigen::MatrixXd::Identity(60, 60);
    const Vector<double> exact = shifted.llt().solve(right);
    EXPECT_LE((found.col(static_cast<Index>(i)) - exact).norm(), 1e-10 * exact.norm()) << shifts[i];
  }
  // Singular, with a right side that reaches a part only; and none at all.
  DenseMatrix<double> small = DenseMatrix<double>::Zero(3, 3);
  small(0, 0) = 2;
  const Eigen::MatrixXd part = ShiftedSystems(small, Vector<double>::Unit(3, 0), 0.5).solve({0.5});
  EXPECT_TRUE(part.isApprox(Eigen::Vector3d(0.4, 0, 0)));
  EXPECT_TRUE(ShiftedSystems(small, Vector<double>::Zero(3), 0.5).solve({0.5, 1}).isZero(0));
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/row_weights.hpp"

#include <gtest/gtest.h>

#include "base/thread_communicator.hpp"
#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/metrics.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Family kFamiliesOfRows[] = {Family::linear, Family::logistic, Family::softmax};

// Rows with weights 0, 1, 2, 3 in turn, and the same rows repeated as often.
template <class Scalar>
struct Twins {
  DenseMatrix<double> x, repeated_x;
  Vector<double> y, repeated_y, weights;
  ProblemSetup setup;

  Twins(Family family, Penalty penalty, Index rows = 41) : x(random_matrix(rows, 5, 71)), weights(rows) {
    setup = {family, family == Family::softmax ? 3 : 1, std::move(penalty), 4.0};
    x.col(4).setOnes();
    y = random_targets(family, x, setup.classes, 72);
    std::vector<Index> again;
    for (Index i = 0; i < rows; ++i) {
      weights[i] = static_cast<double>(i % 4);
      again.insert(again.end(), static_cast<std::size_t>(i % 4), i);
    }
    repeated_x = x(again, Eigen::all);
    repeated_y = y(again);
  }

  std::unique_ptr<Problem<Scalar>> make(bool repeated, bool sparse, ThreadPool& pool,
                                        Communicator* communicator = nullptr) const {
    const DenseMatrix<double>& all = repeated ? repeated_x : x;
    const auto [first, last] = communicator == nullptr
                                   ? std::pair(Index{0}, all.rows())
                                   : share_of(all.rows(), communicator->rank(), communicator->size());
    const DenseMatrix<Scalar> rows = all.middleRows(first, last - first).template cast<Scalar>();
    typename Problem<Scalar>::Matrix matrix = rows;
    if (sparse) matrix = SparseMatrix<Scalar>(rows.sparseView());
    return std::make_unique<Problem<Scalar>>(
        std::move(matrix), (repeated ? repeated_y : y).segment(first, last - first).template cast<Scalar>(), setup,
        pool, communicator, repeated ? Vector<double>() : Vector<double>(weights.segment(first, last - first)));
  }
};

template <class Scalar>
void expect_same_loss_and_constants(const Problem<Scalar>& weighted, const Problem<Scalar>& repeated) {
  const double tolerance = std::is_same_v<Scalar, float> ? 1e-5 : 1e-12;
  Weights<Scalar> one, other;
  const Weights<Scalar> w = random_matrix(5, weighted.setup().classes, 73).template cast<Scalar>();
  const double loss = repeated.evaluate(w, other);
  EXPECT_NEAR(weighted.evaluate(w, one), loss, tolerance * loss);
  EXPECT_LT((one - other).norm(), tolerance * (1 + other.norm()));
  for (ConstantKind kind : kConstantKinds) {
    const Measured measured = weighted.measure(kind, 3), expected = repeated.measure(kind, 3);
    const double close = std::max(tolerance, 1e-9);  // the spectral norm is iterated
    EXPECT_NEAR(measured.constant.value, expected.constant.value, close * expected.constant.value) << to_string(kind);
    EXPECT_NEAR(measured.features.frobenius, expected.features.frobenius, close * expected.features.frobenius);
    EXPECT_NEAR(measured.features.square_frobenius, expected.features.square_frobenius,
                close * expected.features.square_frobenius);
    EXPECT_NEAR(measured.features.sum, expected.features.sum, close * expected.features.frobenius * 10);
    EXPECT_NEAR(measured.features.cube_sum, expected.features.cube_sum,
                close * expected.features.square_frobenius * 10);
    EXPECT_NEAR(measured.features.count, expected.features.count, 1e-9);
  }
}

TEST(RowWeights, WholeNumbersCountAsRepeatedRows) {
  ThreadPool pool(2);
  for (Family family : kFamiliesOfRows) {
    for (const bool sparse : {false, true}) {
      const Twins<double> twins(family, {0.02, {}, true});
      expect_same_loss_and_constants(*twins.make(false, sparse, pool), *twins.make(true, sparse, pool));
      const Twins<float> single(family, {0.02, {}, true});
      expect_same_loss_and_constants(*single.make(false, sparse, pool), *single.make(true, sparse, pool));
      const Twins<double> large(family, {0.02, {}, true}, 3001);  // several chunks
      expect_same_loss_and_constants(*large.make(false, sparse, pool), *large.make(true, sparse, pool));
    }
  }
}

TEST(RowWeights, EverySolverFindsTheModelOfTheRepeatedRows) {
  ThreadPool pool(1);
  for (Family family : kFamiliesOfRows) {
    for (const bool spare : {false, true}) {
      const Twins<double> twins(family, {0.02, {}, spare});
      for (Solver solver : {Solver::newton, Solver::lbfgs}) {
        for (const bool sparse : {false, true}) {
          const SolverOptions options{.solver = solver, .gap_tolerance = 1e-12};
          const auto weighted = solve(*twins.make(false, sparse, pool), options, State<double>{});
          const auto repeated = solve(*twins.make(true, sparse, pool), options, State<double>{});
          EXPECT_EQ(weighted.stop, Stop::certified) << to_string(family) << ", " << to_string(solver);
          EXPECT_LT((weighted.state.weights - repeated.state.weights).norm(), 1e-5);
          EXPECT_NEAR(weighted.last.loss, repeated.last.loss, 1e-11);
        }
      }
    }
  }
}

TEST(RowWeights, ProcessesAndBatchesWeighTheSame) {
  for (Family family : kFamiliesOfRows) {
    const Twins<double> twins(family, {0.02, {}, false});
    ThreadPool one(1);
    const std::vector<Index> batch = {1, 2, 3, 17, 33, 40};
    const auto numbers_of = [&](const Problem<double>& problem) {
      const Weights<double> w = random_matrix(5, problem.setup().classes, 74);
      Weights<double> gradient;
      std::vector<double> numbers = {problem.evaluate(w, gradient), gradient.norm()};
      numbers.push_back(problem.evaluate(w, gradient, batch));
      numbers.push_back(gradient.norm());
      numbers.push_back(problem.measure(ConstantKind::certified, 3, batch).constant.value);
      numbers.push_back(solve(problem, {.gap_tolerance = 1e-12}, State<double>{}).last.loss);
      return numbers;
    };
    const std::vector<double> alone = numbers_of(*twins.make(false, false, one));
    const auto all = test::run_threads<std::vector<double>>(3, [&](Communicator& communicator) {
      ThreadPool pool(1);
      return numbers_of(*twins.make(false, false, pool, &communicator));
    });
    for (const auto& numbers : all) {
      for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(numbers[i], alone[i], 1e-10 * (1 + alone[i])) << i;
    }
  }
}

TEST(RowWeights, MetricsAreThoseOfTheRepeatedRows) {
  for (Family family : kFamiliesOfRows) {
    const Twins<double> twins(family, {});
    const Weights<double> w = random_matrix(5, twins.setup.classes, 75);
    const Index classes = family == Family::softmax ? 3 : 2;
    const Metrics weighted = measure(family, twins.x * w, twins.y, classes, twins.weights);
    const Metrics repeated = measure(family, twins.repeated_x * w, twins.repeated_y, classes);
    EXPECT_NEAR(weighted.loss, repeated.loss, 1e-12);
    EXPECT_NEAR(weighted.constant_loss, repeated.constant_loss, 1e-12);
    EXPECT_NEAR(weighted.rmse, repeated.rmse, 1e-12);
    EXPECT_NEAR(weighted.mae, repeated.mae, 1e-12);
    EXPECT_NEAR(weighted.r2, repeated.r2, 1e-12);
    EXPECT_NEAR(weighted.accuracy, repeated.accuracy, 1e-12);
    EXPECT_NEAR(weighted.majority_accuracy, repeated.majority_accuracy, 1e-12);
  }
}

TEST(RowWeights, ClassesWeighTheirRows) {
  const Vector<double> targets{{0, 1, 1, 1, 2, 2}};
  EXPECT_EQ(balanced_class_weights(targets, 3), (std::vector<double>{2, 2.0 / 3, 1}));
  EXPECT_EQ(row_weights_of(targets, {5, 1, 0}), (Vector<double>{{5, 1, 1, 1, 0, 0}}));
  EXPECT_THROW(row_weights_of(targets, {1, 2}), Error);
  EXPECT_THROW(row_weights_of(targets, {1, 2, -1}), Error);
}

TEST(RowWeights, WhatIsNoWeightIsRefused) {
  ThreadPool pool(1);
  const DenseMatrix<double> x = random_matrix(3, 2, 76);
  const Vector<double> y{{1, 2, 3}};
  const auto with = [&](Vector<double> weights) {
    return [&, weights] { Problem<double>(x, y, {Family::linear, 1, {}, 1}, pool, nullptr, weights); };
  };
  EXPECT_THROW(with(Vector<double>{{1, 2}})(), Error);
  EXPECT_THROW(with(Vector<double>{{1, -1, 1}})(), Error);
  EXPECT_THROW(with(Vector<double>{{1, std::nan(""), 1}})(), Error);
  EXPECT_THROW(with(Vector<double>{{0, 0, 0}})(), Error);
  EXPECT_NO_THROW(with(Vector<double>{{0, 0.5, 0}})());
}

}  // namespace
}  // namespace lipschitzlr::linear

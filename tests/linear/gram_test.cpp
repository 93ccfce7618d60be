#include "lipschitzlr/linear/gram.hpp"

#include <gtest/gtest.h>

#include "base/isas.hpp"
#include "base/thread_communicator.hpp"
#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

// Three loops in long double.
Eigen::MatrixXd plain_gram(const DenseMatrix<double>& x, const Vector<double>& d) {
  Eigen::MatrixXd result(x.cols(), x.cols());
  for (Index a = 0; a < x.cols(); ++a) {
    for (Index b = 0; b < x.cols(); ++b) {
      long double sum = 0;
      for (Index i = 0; i < x.rows(); ++i) {
        sum += static_cast<long double>(x(i, a)) * x(i, b) * (d.size() == 0 ? 1 : d[i]);
      }
      result(a, b) = static_cast<double>(sum);
    }
  }
  return result;
}

Vector<double> random_weights(Index rows) { return random_matrix(rows, 1, 5).col(0); }

// Tails of panels, stripes and packed rows.
const std::pair<Index, Index> kSizes[] = {{1, 1},   {3, 2},     {7, 8},   {300, 25}, {257, 31},
                                          {40, 65}, {600, 130}, {5, 200}, {50, 24},  {90, 144}};

template <class Scalar>
void check_shapes(double tolerance) {
  ThreadPool pool(2);
  for (const auto& [rows, columns] : kSizes) {
    DenseMatrix<double> x = random_matrix(rows, columns, 4);
    x = (x.array().abs() < 0.3).select(0, x);
    const DenseMatrix<Scalar> dense = x.cast<Scalar>();
    x = dense.template cast<double>();
    const SparseMatrix<Scalar> sparse = dense.sparseView();
    for (const Vector<double>& d : {Vector<double>(), random_weights(rows)}) {
      const Eigen::MatrixXd expected = plain_gram(x, d);
      const double size = expected.cwiseAbs().maxCoeff();
      EXPECT_LT((gram(dense, d, pool) - expected).cwiseAbs().maxCoeff(), tolerance * size) << rows << " x " << columns;
      EXPECT_LT((gram(sparse, d, pool) - expected).cwiseAbs().maxCoeff(), tolerance * size) << rows << " x " << columns;
    }
  }
}

// A column for the targets may be the first of another panel.
template <class Scalar>
void check_targets() {
  ThreadPool pool(2);
  for (const auto& [rows, columns] : kSizes) {
    const DenseMatrix<Scalar> dense = random_matrix(rows, columns, 8).template cast<Scalar>();
    const Vector<Scalar> y = random_matrix(rows, 1, 9).col(0).template cast<Scalar>();
    const SparseMatrix<Scalar> sparse = dense.sparseView();
    DenseMatrix<double> both(rows, columns + 1);
    both << dense.template cast<double>(), y.template cast<double>();
    for (const Vector<double>& d : {Vector<double>(), random_weights(rows)}) {
      const Eigen::MatrixXd expected = plain_gram(both, d);
      const double allowed = 1e-13 * expected.cwiseAbs().maxCoeff();
      EXPECT_LT((gram_with_targets(dense, y, d, pool) - expected).cwiseAbs().maxCoeff(), allowed) << columns;
      EXPECT_LT((gram_with_targets(sparse, y, d, pool) - expected).cwiseAbs().maxCoeff(), allowed) << columns;
    }
  }
}

TEST(Gram, TargetsAreOneMoreColumn) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    check_targets<double>();
    check_targets<float>();
  }
}

TEST(Gram, AgreesWithThreeLoopsForEveryInstructionSet) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    check_shapes<double>(1e-13);
    check_shapes<float>(1e-13);
  }
}

TEST(Gram, ThreadsDoNotChangeABit) {
  const DenseMatrix<double> dense = random_matrix(9000, 70, 6), wide = random_matrix(1300, 250, 6);
  const SparseMatrix<double> sparse = dense.unaryExpr([](double x) { return x > 1 ? x : 0; }).sparseView();
  const Vector<double> d = random_weights(9000);
  ThreadPool one(1);
  for (const unsigned threads : {2u, 7u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(gram(dense, d, pool), gram(dense, d, one));
    EXPECT_EQ(gram(wide, {}, pool), gram(wide, {}, one));
    EXPECT_EQ(gram(sparse, d, pool), gram(sparse, d, one));
    EXPECT_EQ(gram_with_targets(dense, d, d, pool), gram_with_targets(dense, d, d, one));
  }
}

TEST(Gram, IsThatOfAllRowsInEveryProcess) {
  const DenseMatrix<double> x = random_matrix(11, 4, 7);
  const Vector<double> d = random_weights(11);
  for (const int size : {2, 3, 13}) {
    const auto all = test::run_threads<Eigen::MatrixXd>(size, [&](Communicator& communicator) {
      ThreadPool pool(1);
      const auto [first, last] = share_of(x.rows(), communicator.rank(), communicator.size());
      return gram(DenseMatrix<double>(x.middleRows(first, last - first)),
                  Vector<double>(d.segment(first, last - first)), pool, &communicator);
    });
    for (const Eigen::MatrixXd& one : all) {
      EXPECT_EQ(one, all[0]);
      EXPECT_LT((one - plain_gram(x, d)).norm(), 1e-12);
    }
  }
}

TEST(Gram, WeightsThatDoNotFitAreRefused) {
  ThreadPool pool(1);
  EXPECT_THROW(gram(random_matrix(3, 2, 1), Vector<double>::Ones(2), pool), Error);
}

}  // namespace
}  // namespace lipschitzlr::linear

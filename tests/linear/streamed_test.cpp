// Rows that are scaled when they are read give the bits of the same rows in memory, whatever reads them; but matrices
// in memory of up to a megabyte have kernels of their own: those here are larger.

#include <gtest/gtest.h>

#include <limits>

#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/cross_validation.hpp"
#include "lipschitzlr/linear/fit.hpp"
#include "lipschitzlr/linear/gram.hpp"
#include "lipschitzlr/linear/held_rows.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr std::size_t kAllHeld = std::numeric_limits<std::size_t>::max(), kNoneHeld = 0;

data::Table random_table(Family family, Index rows, Index columns) {
  data::Table table;
  DenseMatrix<double> x = random_matrix(rows, columns, 5);
  x.col(0).array() *= 30;
  x.col(columns - 1).array() += 7;
  table.target = random_targets(family, x, 3, 6);
  if (family == Family::logistic) table.labels = {"no", "yes"};
  if (family == Family::softmax) table.labels = {"a", "b", "c"};
  for (Index j = 0; j < columns; ++j) table.feature_names.push_back("x" + std::to_string(j));
  table.features = std::move(x);
  return table;
}

Vector<double> random_weights(Index rows) {
  Random random(8);
  Vector<double> weights(rows);
  for (double& weight : weights) weight = std::abs(random.normal());
  weights[0] = 0;
  return weights;
}

// Every second row, and the first once more.
std::vector<Index> some_rows(Index rows) {
  std::vector<Index> some;
  for (Index row = 1; row < rows; row += 2) some.push_back(row);
  some.push_back(0);
  return some;
}

template <class Scalar>
struct Pair {
  std::unique_ptr<Problem<Scalar>> held, streamed;

  Pair(const data::Table& table, Family family, const std::vector<Index>* rows, const Vector<double>& weights,
       ThreadPool& pool, Penalty penalty = {.l2 = 1e-3, .tikhonov = {}, .spare_last = true}) {
    FitOptions options;
    options.penalty = penalty;
    const Preparation preparation = prepare(table, family, options);
    held = make_problem<Scalar>(table, rows, preparation, pool, nullptr, weights, kAllHeld);
    streamed = make_problem<Scalar>(table, rows, preparation, pool, nullptr, weights, kNoneHeld);
    EXPECT_TRUE(std::holds_alternative<DenseMatrix<Scalar>>(held->matrix()));
    EXPECT_TRUE(std::holds_alternative<StreamedRows<Scalar>>(streamed->matrix()));
  }
};

template <class Scalar>
class Streamed : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Streamed, Scalars);

TYPED_TEST(Streamed, TheLossItsGradientAndTheScoresHaveTheSameBits) {
  using Scalar = TypeParam;
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
      for (const Index columns : {3, 41}) {
        const data::Table table = random_table(family, columns == 3 ? 140003 : 14003, columns);
        const std::vector<Index> some = some_rows(table.rows());
        for (const std::vector<Index>* rows : {static_cast<const std::vector<Index>*>(nullptr), &some}) {
          const Index count = rows == nullptr ? table.rows() : static_cast<Index>(some.size());
          const Pair<Scalar> pair(table, family, rows, columns == 3 ? random_weights(count) : Vector<double>(), pool);
          const Weights<Scalar> weights =
              random_matrix(columns + 1, pair.held->setup().classes, 3).template cast<Scalar>();
          Weights<Scalar> one, other;
          EXPECT_EQ(pair.held->evaluate(weights, one), pair.streamed->evaluate(weights, other));
          EXPECT_EQ(one, other);
          const std::vector<Index> batch = {17, 3, 1200, 3, 0, 40};
          EXPECT_EQ(pair.held->evaluate(weights, one, batch), pair.streamed->evaluate(weights, other, batch));
          EXPECT_EQ(one, other);
          EXPECT_EQ(pair.held->scores(weights), pair.streamed->scores(weights));
          const Vector<double> d = random_weights(count);
          const auto gram_of = [&](const Problem<Scalar>& problem) {
            return std::visit([&](const auto& matrix) { return gram(matrix, d, pool); }, problem.matrix());
          };
          EXPECT_EQ(gram_of(*pair.held), gram_of(*pair.streamed));
        }
      }
    }
  }
}

TYPED_TEST(Streamed, TheConstantsHaveTheSameBits) {
  using Scalar = TypeParam;
  ThreadPool pool(2);
  for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
    for (const Index rows : {1007, 25}) {  // more rows than columns, and fewer
      const data::Table table = random_table(family, rows, 40);
      for (const Vector<double>& weights : {Vector<double>(), random_weights(rows)}) {
        const Pair<Scalar> pair(table, family, nullptr, weights, pool);
        const std::vector<Index> batch = {7, 3, 20, 3, 0};
        for (const ConstantKind kind : kConstantKinds) {
          const Measured held = pair.held->measure(kind, 2), streamed = pair.streamed->measure(kind, 2);
          EXPECT_EQ(held.constant.value, streamed.constant.value);
          EXPECT_EQ(held.features.frobenius, streamed.features.frobenius);
          EXPECT_EQ(held.features.square_frobenius, streamed.features.square_frobenius);
          EXPECT_EQ(pair.held->measure(kind, 2, batch).constant.value,
                    pair.streamed->measure(kind, 2, batch).constant.value);
        }
      }
    }
  }
}

TYPED_TEST(Streamed, EverySolverEndsAtTheSameBits) {
  using Scalar = TypeParam;
  for (const unsigned threads : {1u, 7u}) {
    ThreadPool pool(threads);
    for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
      const data::Table table = random_table(family, 40007, 7);  // so many rows that a sample pays
      for (const Solver solver : {Solver::automatic, Solver::newton, Solver::lbfgs, Solver::coordinate, Solver::fista,
                                  Solver::gd, Solver::accelerated, Solver::sgd, Solver::adamo}) {
        Penalty penalty{.l2 = 1e-3, .tikhonov = {}, .spare_last = true};
        if (solver == Solver::coordinate || solver == Solver::fista) penalty.l1 = 1e-2;
        const Pair<Scalar> pair(table, family, nullptr, {}, pool, penalty);
        SolverOptions options{.solver = solver, .epochs = 5};
        if (solver == Solver::sgd || solver == Solver::adamo) options.batch = 100;
        const auto held = solve(*pair.held, options, State<Scalar>{});
        const auto streamed = solve(*pair.streamed, options, State<Scalar>{});
        EXPECT_EQ(held.weights(), streamed.weights()) << to_string(family) << " by " << to_string(solver);
        EXPECT_EQ(held.certified_gap, streamed.certified_gap);
      }
    }
  }
}

TYPED_TEST(Streamed, SoDoesASolverInTheSpaceOfTheRows) {
  using Scalar = TypeParam;
  ThreadPool pool(2);
  const data::Table table = random_table(Family::logistic, 100, 3000);
  const Pair<Scalar> pair(table, Family::logistic, nullptr, {}, pool);
  EXPECT_EQ(solve(*pair.held, {.epochs = 100}, State<Scalar>{}).weights(),
            solve(*pair.streamed, {.epochs = 100}, State<Scalar>{}).weights());
}

TYPED_TEST(Streamed, ThePenaltyThatIsChosenHasTheSameBits) {
  using Scalar = TypeParam;
  for (const unsigned threads : {1u, 7u}) {
    ThreadPool pool(threads);
    for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
      for (const Index rows : {14003, 200}) {  // more than columns, and fewer
        const data::Table table = random_table(family, rows, rows == 200 ? 3000 : 40);
        for (const double share : {0.0, 0.5}) {
          if (rows == 200 && share > 0) continue;  // takes seconds
          FitOptions options;
          options.penalty.spare_last = true;
          options.l1_share = share;
          if (rows == 14003) options.row_weights = random_weights(rows);
          options.most_held = kAllHeld;
          const PenaltyPath held = cross_validate<Scalar>(table, family, options, {2, 3, 1}, pool);
          options.most_held = kNoneHeld;
          const PenaltyPath streamed = cross_validate<Scalar>(table, family, options, {2, 3, 1}, pool);
          ASSERT_EQ(held.points.size(), streamed.points.size());
          for (std::size_t i = 0; i < held.points.size(); ++i) {
            EXPECT_EQ(held.points[i].lambda, streamed.points[i].lambda);
            EXPECT_EQ(held.points[i].loss, streamed.points[i].loss) << to_string(family) << " " << rows << " " << share;
          }
        }
      }
    }
  }
}

// Such as that of a file that can't be read on.
TEST(StreamedErrors, ReachWhoeverReadsTheRows) {
  const Index rows = 20000, columns = 8;
  const auto fill = [&](const Index*, Index first, Index count, double* to) {
    if (first + count > 15000) throw Error(Fault::data, "gone");
    std::fill_n(to, count * columns, 1.0);
  };
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    const Problem<double> problem(StreamedRows<double>(rows, columns, fill), Vector<double>::Zero(rows),
                                  {.family = Family::logistic}, pool);
    Weights<double> gradient;
    EXPECT_THROW(problem.evaluate(problem.zero_weights(), gradient), Error);
    EXPECT_THROW(problem.scores(problem.zero_weights()), Error);
    EXPECT_THROW(gram(std::get<StreamedRows<double>>(problem.matrix()), {}, pool), Error);
    EXPECT_THROW(problem.constant(ConstantKind::gradient), Error);
    EXPECT_THROW(solve(problem, {.epochs = 3}, State<double>{}), Error);
  }
}

TEST(StreamedFolds, AreThoseOfATableWithoutTheRowsHeldOut) {
  const data::Table table = random_table(Family::logistic, 301, 4);
  std::vector<Index> kept;
  Vector<double> weights = Vector<double>::Zero(table.rows());
  for (Index row = 0; row < table.rows(); ++row) {
    if (row % 5 == 2) continue;
    kept.push_back(row);
    weights[row] = 1;
  }
  ThreadPool pool(2);
  const data::Table without = data::take_rows(table, kept);
  FitOptions options;
  const auto expected = make_problem<double>(without, prepare(without, Family::logistic, options), pool);
  options.row_weights = weights;
  const auto fold =
      make_problem<double>(table, &kept, prepare(table, Family::logistic, options), pool, nullptr, {}, kNoneHeld);
  EXPECT_EQ(std::get<StreamedRows<double>>(fold->matrix()).dense(), std::get<DenseMatrix<double>>(expected->matrix()));
  EXPECT_EQ(fold->targets(), expected->targets());
}

}  // namespace
}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/isas.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::linear {
namespace {

template <class Scalar>
struct Rows {
  Family family;
  Index classes;
  DenseMatrix<Scalar> dense;
  SparseMatrix<Scalar> sparse;
  Vector<Scalar> targets;
  Weights<Scalar> weights;
};

template <class Scalar>
Rows<Scalar> make_problem(Family family, Index rows, Index columns, Index classes, double filled = 1) {
  Random random(static_cast<std::uint64_t>(rows * 1000003 + columns * 1009 + classes));
  Rows<Scalar> problem{family, classes, {}, {}, {}, {}};
  problem.dense.setZero(rows, columns);
  problem.targets.resize(rows);
  problem.weights.resize(columns, classes);
  for (Scalar& value : problem.dense.reshaped()) {
    if (random.uniform() < filled) value = static_cast<Scalar>(random.normal());
  }
  for (Scalar& value : problem.weights.reshaped()) value = static_cast<Scalar>(random.normal());
  const std::uint64_t labels = family == Family::softmax ? static_cast<std::uint64_t>(classes) : 2;
  for (Scalar& value : problem.targets) {
    value = static_cast<Scalar>(family == Family::linear ? random.normal() : static_cast<double>(random.below(labels)));
  }
  problem.sparse = problem.dense.sparseView();
  problem.sparse.makeCompressed();
  return problem;
}

struct Answer {
  long double loss = 0;
  DenseMatrix<long double> gradient;
};

// The formulas of the header, row by row, nothing clever.
template <class Scalar>
Answer expected(const Rows<Scalar>& problem, const std::vector<Index>& rows) {
  Answer answer;
  answer.gradient.setZero(problem.weights.rows(), problem.weights.cols());
  for (Index row : rows) {
    const Vector<long double> x = problem.dense.row(row).transpose().template cast<long double>();
    const Vector<long double> z = problem.weights.template cast<long double>().transpose() * x;
    const long double y = static_cast<long double>(problem.targets[row]);
    Vector<long double> residual(z.size());
    if (problem.family == Family::linear) {
      residual[0] = z[0] - y;
      answer.loss += residual[0] * residual[0] / 2;
    } else if (problem.family == Family::logistic) {
      residual[0] = 1 / (1 + std::exp(-z[0])) - y;
      answer.loss += std::max(z[0], 0.0L) + std::log1p(std::exp(-std::abs(z[0]))) - y * z[0];
    } else {
      const Vector<long double> e = (z.array() - z.maxCoeff()).exp();
      residual = e / e.sum();
      residual[static_cast<Index>(y)] -= 1;
      answer.loss += std::log(e.sum()) + z.maxCoeff() - z[static_cast<Index>(y)];
    }
    answer.gradient += x * residual.transpose();
  }
  answer.loss /= static_cast<long double>(rows.size());
  answer.gradient /= static_cast<long double>(rows.size());
  return answer;
}

std::vector<Index> all_rows(Index rows) {
  std::vector<Index> numbers(static_cast<std::size_t>(rows));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  return numbers;
}

// Every third row backwards, and one of them twice.
std::vector<Index> some_rows(Index rows) {
  std::vector<Index> numbers;
  for (Index row = rows - 1; row >= 0; row -= 3) numbers.push_back(row);
  numbers.push_back(numbers.front());
  return numbers;
}

template <class Scalar>
void expect_near(const Answer& wanted, double loss, const Weights<Scalar>& gradient, const std::string& what) {
  const double tolerance = std::is_same_v<Scalar, float> ? 2e-5 : 1e-13;
  const double size = static_cast<double>(wanted.gradient.cwiseAbs().maxCoeff()) + 1;
  EXPECT_NEAR(loss, static_cast<double>(wanted.loss), tolerance * (1 + std::abs(static_cast<double>(wanted.loss))))
      << what;
  EXPECT_LE(static_cast<double>((gradient.template cast<long double>() - wanted.gradient).cwiseAbs().maxCoeff()),
            tolerance * size)
      << what;
}

template <class Scalar, class Matrix>
void check_matrix(const Rows<Scalar>& problem, const Matrix& matrix, ThreadPool& pool, const std::string& what) {
  const Objective<Scalar> objective(problem.family, matrix, problem.targets, problem.classes, pool);
  Weights<Scalar> gradient;
  const std::vector<Index> all = all_rows(matrix.rows()), some = some_rows(matrix.rows());
  const double full = objective.evaluate(problem.weights, gradient);
  expect_near(expected(problem, all), full, gradient, what + ", all rows");
  const double batch = objective.evaluate(problem.weights, gradient, some);
  expect_near(expected(problem, some), batch, gradient, what + ", mini-batch");
}

struct Shape {
  Family family;
  Index rows, columns, classes;
};

// Tails of every kind (vectors of 2 to 16 numbers, tiles of 4 rows, groups of 3 or 5 outputs), one row, one column.
const std::vector<Shape> kShapes = {
    {Family::linear, 1, 1, 1},       {Family::linear, 506, 14, 1},   {Family::linear, 67, 33, 1},
    {Family::logistic, 1, 7, 1},     {Family::logistic, 569, 31, 1}, {Family::logistic, 9000, 10, 1},
    {Family::logistic, 3, 1000, 1},  {Family::softmax, 1, 1, 2},     {Family::softmax, 105, 4, 3},
    {Family::softmax, 65, 17, 4},    {Family::softmax, 63, 16, 5},   {Family::softmax, 130, 64, 6},
    {Family::softmax, 700, 64, 10},  {Family::softmax, 100, 50, 16}, {Family::softmax, 37, 9, 17},
    {Family::softmax, 40, 5, 1003},  {Family::softmax, 6, 30000, 2}, {Family::linear, 5, 20011, 1},
    {Family::softmax, 333, 784, 10}, {Family::softmax, 64, 12, 7},   {Family::softmax, 64, 3, 8},
};

template <class Scalar>
void check_shapes() {
  ThreadPool pool(2);
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    for (const Shape& shape : kShapes) {
      const std::string what = to_string(shape.family) + " " + std::to_string(shape.rows) + " x " +
                               std::to_string(shape.columns) + " x " + std::to_string(shape.classes) + " " + name;
      auto problem = make_problem<Scalar>(shape.family, shape.rows, shape.columns, shape.classes, 0.4);
      // Scores of a few units: long rows would drown the small classes otherwise.
      problem.weights /= static_cast<Scalar>(std::sqrt(static_cast<double>(shape.columns)));
      check_matrix(problem, problem.dense, pool, what + " dense");
      check_matrix(problem, problem.sparse, pool, what + " sparse");
    }
  }
}

TEST(Objective, AgreesWithPlainLoopsInDouble) { check_shapes<double>(); }

TEST(Objective, AgreesWithPlainLoopsInFloat) { check_shapes<float>(); }

// Keras's loss row by row: -log of p_y, moved into [1e-7, 1 - 1e-7]; a row that had to be moved has no gradient.
template <class Scalar>
Answer expected_clipped(const Rows<Scalar>& problem, const std::vector<Index>& rows, Index& moved) {
  Answer answer;
  answer.gradient.setZero(problem.weights.rows(), problem.weights.cols());
  for (const Index row : rows) {
    const Vector<long double> x = problem.dense.row(row).transpose().template cast<long double>();
    const Vector<long double> z = problem.weights.template cast<long double>().transpose() * x;
    const auto label = static_cast<Index>(problem.targets[row]);
    const Vector<long double> e = (z.array() - z.maxCoeff()).exp();
    Vector<long double> residual = e / e.sum();
    const long double own = residual[label];
    answer.loss -= std::log(std::clamp(own, 1e-7L, 1 - 1e-7L));
    residual[label] -= 1;
    if (own < 1e-7L || own > 1 - 1e-7L) {
      ++moved;
      continue;
    }
    answer.gradient += x * residual.transpose();
  }
  answer.loss /= static_cast<long double>(rows.size());
  answer.gradient /= static_cast<long double>(rows.size());
  return answer;
}

template <class Scalar>
void check_clipped() {
  ThreadPool pool(2);
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    auto problem = make_problem<Scalar>(Family::softmax, 700, 20, 7, 0.4);
    problem.weights *= 3;
    const auto check = [&](const auto& matrix) {
      Objective<Scalar> objective(Family::softmax, matrix, problem.targets, 7, pool);
      objective.clip();
      Weights<Scalar> gradient;
      Index moved = 0;
      const double full = objective.evaluate(problem.weights, gradient);
      expect_near(expected_clipped(problem, all_rows(700), moved), full, gradient, name + ", all rows");
      EXPECT_GT(moved, 100);
      EXPECT_LT(moved, 600);
      const double batch = objective.evaluate(problem.weights, gradient, some_rows(700));
      expect_near(expected_clipped(problem, some_rows(700), moved), batch, gradient, name + ", mini-batch");
    };
    check(problem.dense);
    check(problem.sparse);
  }
}

TEST(Objective, ClippedAgreesWithPlainLoopsInDouble) { check_clipped<double>(); }

TEST(Objective, ClippedAgreesWithPlainLoopsInFloat) { check_clipped<float>(); }

TEST(Objective, OfSoftmaxAloneCanBeClipped) {
  ThreadPool pool(1);
  const auto problem = make_problem<double>(Family::logistic, 9, 2, 1);
  Objective<double> objective(Family::logistic, problem.dense, problem.targets, 1, pool);
  EXPECT_THROW(objective.clip(), Error);
}

TEST(Objective, GradientIsTheSlopeOfTheLoss) {
  ThreadPool pool(1);
  for (const Shape& shape :
       {Shape{Family::linear, 50, 6, 1}, {Family::logistic, 50, 6, 1}, {Family::softmax, 50, 6, 4}}) {
    auto problem = make_problem<double>(shape.family, shape.rows, shape.columns, shape.classes);
    const Objective<double> objective(problem.family, problem.dense, problem.targets, problem.classes, pool);
    Weights<double> gradient, unused;
    objective.evaluate(problem.weights, gradient);
    for (Index i = 0; i < gradient.size(); ++i) {
      Weights<double> up = problem.weights, down = problem.weights;
      up.data()[i] += 1e-5;
      down.data()[i] -= 1e-5;
      const double slope = (objective.evaluate(up, unused) - objective.evaluate(down, unused)) / 2e-5;
      EXPECT_NEAR(gradient.data()[i], slope, 1e-8) << to_string(shape.family) << " weight " << i;
    }
  }
}

template <class Scalar>
bool same_bits(const Weights<Scalar>& a, const Weights<Scalar>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(Scalar)) == 0;
}

template <class Scalar, class Matrix>
void expect_same_bits(const Rows<Scalar>& problem, const Matrix& matrix) {
  std::optional<double> first_loss;
  Weights<Scalar> first_gradient;
  std::vector<Index> batch = some_rows(matrix.rows());
  for (unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    const Objective<Scalar> objective(problem.family, matrix, problem.targets, problem.classes, pool);
    for (int repeat = 0; repeat < 5; ++repeat) {
      Weights<Scalar> gradient, batch_gradient;
      const double loss =
          objective.evaluate(problem.weights, gradient) + objective.evaluate(problem.weights, batch_gradient, batch);
      gradient += batch_gradient;
      if (!first_loss) {
        first_loss = loss;
        first_gradient = gradient;
      }
      EXPECT_EQ(loss, *first_loss) << threads << " threads";
      EXPECT_TRUE(same_bits(gradient, first_gradient)) << threads << " threads";
    }
  }
}

TEST(Objective, GivesTheSameBitsForOneTwoAndSevenThreads) {
  const auto wide = make_problem<float>(Family::softmax, 3000, 200, 10, 0.3);
  expect_same_bits(wide, wide.dense);
  expect_same_bits(wide, wide.sparse);
  const auto tall = make_problem<double>(Family::logistic, 40000, 10, 1, 0.5);
  expect_same_bits(tall, tall.dense);
  expect_same_bits(tall, tall.sparse);
  const auto line = make_problem<double>(Family::linear, 1500, 700, 1, 0.2);
  expect_same_bits(line, line.dense);
  expect_same_bits(line, line.sparse);
}

TEST(Objective, SparseRowsOfOnesNeedNoValuesAndGiveTheSame) {
  ThreadPool pool(2);
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    for (Family family : {Family::linear, Family::logistic}) {
      auto problem = make_problem<double>(family, 600, 40, 1, 0.3);
      problem.dense = (problem.dense.array() != 0).cast<double>();
      problem.sparse = problem.dense.sparseView();
      check_matrix(problem, problem.sparse, pool, to_string(family) + " of ones " + name);
    }
  }
}

TEST(Objective, SparseRowsMayBeEmptyAndColumnsMany) {
  ThreadPool pool(2);
  SparseMatrix<double> features(3, 1000000);
  features.insert(0, 999999) = 2;
  features.insert(2, 0) = -1;
  features.makeCompressed();
  const Vector<double> targets{{1, 0, 0}};
  const Objective<double> objective(Family::logistic, features, targets, 1, pool);
  Weights<double> gradient;
  const double loss = objective.evaluate(Weights<double>::Zero(1000000, 1), gradient);
  EXPECT_DOUBLE_EQ(loss, std::log(2.0));
  EXPECT_DOUBLE_EQ(gradient(999999, 0), -1.0 / 3);
  EXPECT_DOUBLE_EQ(gradient(0, 0), -0.5 / 3);
  EXPECT_EQ((gradient.array() != 0).count(), 2);
}

// One feature of value 1, so that the weights are the scores.
template <class Scalar>
std::pair<double, Weights<Scalar>> at_scores(Family family, const std::vector<Scalar>& scores, Scalar target) {
  ThreadPool pool(1);
  const DenseMatrix<Scalar> one = DenseMatrix<Scalar>::Ones(1, 1);
  const Vector<Scalar> targets = Vector<Scalar>::Constant(1, target);
  const auto classes = static_cast<Index>(scores.size());
  const Weights<Scalar> weights = Eigen::Map<const Weights<Scalar>>(scores.data(), 1, classes);
  const Objective<Scalar> objective(family, one, targets, classes, pool);
  Weights<Scalar> gradient;
  const double loss = objective.evaluate(weights, gradient);
  return {loss, gradient};
}

TEST(Objective, StaysFiniteAndExactForExtremeScores) {
  for (const std::string& name : test::expected_isas()) {
    const test::Isa isa(name);
    auto [loss, gradient] = at_scores<double>(Family::logistic, {1e300}, 1);
    EXPECT_EQ(loss, 0);
    EXPECT_EQ(gradient(0, 0), 0);
    std::tie(loss, gradient) = at_scores<double>(Family::logistic, {-1e300}, 1);
    EXPECT_EQ(loss, 1e300);
    EXPECT_EQ(gradient(0, 0), -1);
    std::tie(loss, gradient) = at_scores<double>(Family::logistic, {-50}, 0);
    EXPECT_NEAR(loss / std::exp(-50.0), 1, 1e-15);
    std::tie(loss, gradient) = at_scores<double>(Family::softmax, {1e300, -1e300, 0}, 2);
    EXPECT_EQ(loss, 1e300);
    EXPECT_EQ(gradient, (Weights<double>{{1, 0, -1}}));
    std::tie(loss, gradient) = at_scores<double>(Family::softmax, {700, 650, 660}, 0);
    EXPECT_NEAR(loss / (std::exp(-50.0) + std::exp(-40.0)), 1, 1e-15);
    std::tie(loss, gradient) = at_scores<double>(Family::softmax, {5, 5, 5, 5}, 3);
    EXPECT_DOUBLE_EQ(loss, std::log(4.0));
    EXPECT_EQ(gradient, (Weights<double>{{0.25, 0.25, 0.25, -0.75}}));

    auto [small_loss, small_gradient] = at_scores<float>(Family::logistic, {1e5f}, 0);
    EXPECT_EQ(small_loss, 1e5);
    EXPECT_EQ(small_gradient(0, 0), 1);
    std::tie(small_loss, small_gradient) = at_scores<float>(Family::softmax, {-1e5f, 1e5f}, 0);
    EXPECT_EQ(small_loss, 2e5);
    EXPECT_EQ(small_gradient, (Weights<float>{{-1, 1}}));
    std::tie(small_loss, small_gradient) = at_scores<float>(Family::linear, {1e30f}, 0);
    EXPECT_NEAR(small_loss / 5e59, 1, 1e-6);
  }
}

TEST(Objective, ANumberThatIsNoneIsNeverHidden) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(at_scores<double>(Family::linear, {none}, 0).first));
  EXPECT_TRUE(std::isnan(at_scores<double>(Family::logistic, {none}, 1).first));
  EXPECT_TRUE(std::isnan(at_scores<double>(Family::softmax, {1, none, 2}, 0).first));
  EXPECT_TRUE(std::isnan(at_scores<double>(Family::softmax, {none, 1, 2}, 2).first));
}

TEST(Objective, ScoresAreTheProductWithTheWeights) {
  ThreadPool pool(2);
  for (Index classes : {1, 2, 10, 33}) {
    const auto problem = make_problem<double>(Family::softmax, 211, 29, classes, 0.5);
    const DenseMatrix<double> wanted = problem.dense * problem.weights;
    EXPECT_LT((scores(problem.dense, problem.weights, pool) - wanted).cwiseAbs().maxCoeff(), 1e-13);
    EXPECT_LT((scores(problem.sparse, problem.weights, pool) - wanted).cwiseAbs().maxCoeff(), 1e-13);
  }
  const auto large = make_problem<float>(Family::softmax, 5000, 70, 3);
  const DenseMatrix<float> wanted = large.dense * large.weights;
  EXPECT_LT((scores(large.dense, large.weights, pool) - wanted).cwiseAbs().maxCoeff(), 1e-4f);
}

template <class Call>
Fault fault_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.fault();
  }
  ADD_FAILURE() << "no error";
  return Fault::training;
}

TEST(Objective, RefusesWhatDoesNotFit) {
  ThreadPool pool(1);
  const DenseMatrix<double> two = DenseMatrix<double>::Ones(2, 1);
  const auto make = [&](Family family, Vector<double> targets, Index classes) {
    return [&pool, &two, family, targets, classes] { Objective<double>(family, two, targets, classes, pool); };
  };
  EXPECT_EQ(fault_of(make(Family::softmax, Vector<double>{{0, 3}}, 3)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::softmax, Vector<double>{{0, -1}}, 3)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::softmax, Vector<double>{{0, 0.5}}, 3)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::logistic, Vector<double>{{0, 2}}, 1)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::logistic, Vector<double>{{0, std::nan("")}}, 1)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::linear, Vector<double>{{0, 1, 2}}, 1)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::linear, Vector<double>{{0, 1}}, 2)), Fault::data);
  EXPECT_EQ(fault_of(make(Family::softmax, Vector<double>{{0, 0}}, 1)), Fault::data);
  const DenseMatrix<double> empty(0, 3);
  EXPECT_EQ(fault_of([&] { Objective<double>(Family::linear, empty, Vector<double>(), 1, pool); }), Fault::data);

  SparseMatrix<double> twice = DenseMatrix<double>::Ones(2, 3).sparseView();
  twice.makeCompressed();
  twice.innerIndexPtr()[1] = 0;
  EXPECT_EQ(fault_of([&] { Objective<double>(Family::linear, twice, Vector<double>{{0, 1}}, 1, pool); }), Fault::data);

  const Objective<double> objective(Family::linear, two, Vector<double>{{0, 1}}, 1, pool);
  Weights<double> gradient;
  EXPECT_EQ(fault_of([&] { objective.evaluate(Weights<double>::Zero(2, 1), gradient); }), Fault::usage);
  const std::vector<Index> beyond = {0, 2}, none;
  EXPECT_EQ(fault_of([&] { objective.evaluate(Weights<double>::Zero(1, 1), gradient, beyond); }), Fault::data);
  EXPECT_EQ(fault_of([&] { objective.evaluate(Weights<double>::Zero(1, 1), gradient, none); }), Fault::data);
}

TEST(Family, NamesGoThereAndBack) {
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    EXPECT_EQ(family_from(to_string(family)), family);
  }
  EXPECT_EQ(fault_of([] { family_from("cubic"); }), Fault::usage);
}

TEST(KernelIsa, FollowsTheEnvironmentAndRefusesUnknownNames) {
  const std::string best = kernel_isa();
  {
    const test::Isa isa(best);
    EXPECT_EQ(kernel_isa(), best);
  }
#if defined(__x86_64__)
  {
    const test::Isa isa("plain");
    EXPECT_EQ(kernel_isa(), "plain");
  }
#endif
  const test::Isa isa("mmx");
  EXPECT_EQ(fault_of([] { kernel_isa(); }), Fault::usage);
}

}  // namespace
}  // namespace lipschitzlr::linear

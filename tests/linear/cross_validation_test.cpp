#include "lipschitzlr/linear/cross_validation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <numeric>

#include "base/thread_communicator.hpp"
#include "linear/problems.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/split.hpp"

namespace lipschitzlr::linear {
namespace {

data::Table random_table(Family family, Index rows, Index columns, std::uint64_t seed = 11) {
  data::Table table;
  const DenseMatrix<double> features = random_matrix(rows, columns, seed);
  table.target = random_targets(family, features, 3, seed + 1);
  table.features = features;
  for (Index j = 0; j < columns; ++j) table.feature_names.push_back("x" + std::to_string(j));
  if (family == Family::logistic) table.labels = {"no", "yes"};
  if (family == Family::softmax) table.labels = {"a", "b", "c"};
  return table;
}

FitOptions plain() {
  FitOptions options;
  options.scaling = data::Scaling::none;
  options.intercept = false;
  return options;
}

TEST(CrossValidation, TheCurveOfLeastSquaresIsThatOfTheNormalEquations) {
  const data::Table table = random_table(Family::linear, 41, 4);
  const auto& x = std::get<DenseMatrix<double>>(table.features);
  ThreadPool pool(1);
  const PenaltyPath path = cross_validate<double>(table, Family::linear, plain(), {4, 6, 3}, pool);
  ASSERT_EQ(path.points.size(), 6u);
  EXPECT_EQ(path.folds, 4);
  Random random(3);
  const std::vector<std::vector<Index>> folds = data::deal_rows(table, 4, random);
  for (const PathPoint& point : path.points) {
    double mean = 0, variance = 0;
    std::vector<double> losses;
    for (const auto& fold : folds) {
      Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(4, 4);
      Eigen::VectorXd product = Eigen::VectorXd::Zero(4);
      for (Index i = 0; i < 41; ++i) {
        if (std::binary_search(fold.begin(), fold.end(), i)) continue;
        gram += x.row(i).transpose() * x.row(i);
        product += x.row(i).transpose() * table.target[i];
      }
      gram.diagonal().array() += point.lambda * static_cast<double>(41 - fold.size());
      const Eigen::VectorXd w = gram.llt().solve(product);
      double loss = 0;
      for (const Index i : fold) loss += std::pow(x.row(i).dot(w) - table.target[i], 2) / 2;
      losses.push_back(loss / static_cast<double>(fold.size()));
      mean += loss / 41;
    }
    for (std::size_t f = 0; f < 4; ++f) {
      variance += static_cast<double>(folds[f].size()) / 41 * std::pow(losses[f] - mean, 2);
    }
    EXPECT_NEAR(point.loss, mean, 1e-3 * mean);  // the path is solved to a gap of 1e-5
    EXPECT_NEAR(point.standard_error, std::sqrt(variance / 3), 1e-3 * mean);
  }
}

// The optimum of two classes by Newton's method with halved steps, in plain loops: an intercept last, without a
// penalty.
Eigen::VectorXd plain_newton(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, double lambda) {
  const Index n = x.cols();
  const auto m = static_cast<double>(x.rows());
  Eigen::VectorXd penalty = Eigen::VectorXd::Constant(n, lambda), w = Eigen::VectorXd::Zero(n);
  penalty[n - 1] = 0;
  const auto loss_at = [&](const Eigen::VectorXd& at) {
    const Eigen::ArrayXd scores = (1 - 2 * y.array()) * (x * at).array();
    return (scores.max(0) + (-scores.abs()).exp().log1p()).sum() / m + penalty.dot(at.cwiseAbs2()) / 2;
  };
  for (int step = 0; step < 60; ++step) {
    const Eigen::ArrayXd p = 1 / (1 + (-(x * w).array()).exp());
    const Eigen::VectorXd g = x.transpose() * (p.matrix() - y) / m + penalty.cwiseProduct(w);
    Eigen::MatrixXd h = x.transpose() * (p * (1 - p)).matrix().asDiagonal() * x / m;
    h.diagonal() += penalty;
    const Eigen::VectorXd direction = h.ldlt().solve(g);
    double rate = 1;
    while (rate > 1e-9 && loss_at(w - rate * direction) > loss_at(w)) rate /= 2;
    w -= rate * direction;
    if (direction.norm() < 1e-8) break;
  }
  return w;
}

// The mean loss of the rows held out, fold by fold, in plain loops: columns scaled by the deviations of the other rows.
double plain_curve(const data::Table& table, const std::vector<std::vector<Index>>& folds, double lambda) {
  const auto& x = std::get<DenseMatrix<double>>(table.features);
  double sum = 0;
  for (const auto& fold : folds) {
    std::vector<Index> kept;
    for (Index i = 0; i < x.rows(); ++i) {
      if (!std::binary_search(fold.begin(), fold.end(), i)) kept.push_back(i);
    }
    const Eigen::MatrixXd rows = x(kept, Eigen::all);
    const Eigen::RowVectorXd mean = rows.colwise().mean();
    const Eigen::RowVectorXd deviation =
        ((rows.rowwise() - mean).colwise().squaredNorm() / static_cast<double>(rows.rows())).cwiseSqrt();
    const auto design = [&](const Eigen::MatrixXd& part) {
      Eigen::MatrixXd with_ones(part.rows(), part.cols() + 1);
      with_ones << ((part.rowwise() - mean).array().rowwise() / deviation.array()).matrix(),
          Eigen::VectorXd::Ones(part.rows());
      return with_ones;
    };
    const Eigen::VectorXd w = plain_newton(design(rows), table.target(kept), lambda);
    const Eigen::ArrayXd scores = (design(x(fold, Eigen::all)) * w).array() * (1 - 2 * table.target(fold).array());
    sum += (scores.max(0) + (-scores.abs()).exp().log1p()).sum();
  }
  return sum / static_cast<double>(x.rows());
}

// The matrices of one fold serve the others: from the wrong weights they lead to where all probabilities are 0 or 1.
// With more columns than rows every fold has a space of its own.
TEST(CrossValidation, TheCurveOfTwoClassesIsThatOfNewtonsMethodInEachFold) {
  struct Case {
    Index rows, columns, second_class;
  };
  for (const Case& one : {Case{2000, 8, 4}, Case{2000, 8, 60}, Case{40, 90, 18}}) {
    data::Table table = random_table(Family::logistic, one.rows, one.columns);
    for (Index i = 0; i < one.rows; ++i) table.target[i] = i < one.second_class ? 1 : 0;
    ThreadPool pool(1);
    FitOptions options;
    options.penalty.spare_last = true;
    const PenaltyPath path = cross_validate<double>(table, Family::logistic, options, {5, 6, 3}, pool);
    Random random(3);
    const std::vector<std::vector<Index>> folds = data::deal_rows(table, 5, random);
    for (const PathPoint& point : path.points) {
      const double expected = plain_curve(table, folds, point.lambda);
      EXPECT_NEAR(point.loss, expected, 1e-2 * expected)
          << one.second_class << " of " << one.rows << " rows, " << one.columns << " columns, lambda " << point.lambda;
    }
  }
}

TEST(CrossValidation, ThePathFallsFromBetaAndTheChoicesAreTheLowestAndTheLargestWithinOneError) {
  for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
    const data::Table table = random_table(family, 90, 5);
    ThreadPool pool(1);
    const PenaltyPath path = cross_validate<double>(table, family, plain(), {}, pool);
    ASSERT_LE(path.points.size(), 30u);
    const auto problem = make_problem<double>(table, prepare(table, family, plain()), pool);
    EXPECT_DOUBLE_EQ(path.points[0].lambda, problem->constant(ConstantKind::gradient).value);
    const PathPoint best = path.points[path.best];
    for (std::size_t i = 0; i < path.points.size(); ++i) {
      const double share = std::pow(1e-8, static_cast<double>(i) / 29);
      EXPECT_NEAR(path.points[i].lambda, share * path.points[0].lambda, 1e-12 * path.points[i].lambda);
      EXPECT_GE(path.points[i].loss, best.loss);
      EXPECT_TRUE(i == 0 || path.points[i].lambda < path.points[i - 1].lambda);
      const bool near = path.points[i].loss <= best.loss + best.standard_error;
      EXPECT_TRUE(i < path.sparing ? !near : near || i > path.sparing);
    }
    EXPECT_LE(path.sparing, path.best);
  }
}

TEST(CrossValidation, ThePathEndsWhereItStopsChangingOrRisesForGood) {
  ThreadPool pool(1);
  const data::Table many = random_table(Family::linear, 400, 3);  // a penalty hardly matters
  const PenaltyPath flat = cross_validate<double>(many, Family::linear, plain(), {}, pool);
  ASSERT_LT(flat.points.size(), 30u);
  EXPECT_NEAR(flat.points.back().loss, flat.points[flat.points.size() - 5].loss, 0.01 * flat.points.back().loss);
  data::Table few = random_table(Family::linear, 14, 9);  // almost as many weights as rows,
  few.target.reverseInPlace();                            // and nothing to learn
  const PenaltyPath rising = cross_validate<double>(few, Family::linear, plain(), {}, pool);
  const PenaltyPath whole = cross_validate<double>(few, Family::linear, plain(), {0, 3, 1}, pool);
  EXPECT_EQ(whole.points.size(), 3u) << "too few values to see an end";
  ASSERT_LT(rising.points.size(), 30u);
  EXPECT_LT(rising.best, rising.points.size() - 4);
}

// One feature has a closed form: w = S(x'y/m, l1) / (x'x/m + l2).
TEST(CrossValidation, TheCurveOfAnElasticNetIsThatOfSoftThresholding) {
  const data::Table table = random_table(Family::linear, 37, 1);
  const auto& x = std::get<DenseMatrix<double>>(table.features);
  ThreadPool pool(1);
  FitOptions options = plain();
  options.penalty.l2 = 0.2;  // stays in every model
  for (const double share : {0.3, 1.0}) {
    options.l1_share = share;
    const PenaltyPath path = cross_validate<double>(table, Family::linear, options, {3, 7, 5}, pool);
    EXPECT_NEAR(path.points[0].lambda, std::abs(x.col(0).dot(table.target)) / 37 / share, 1e-12);
    EXPECT_NEAR(path.points[6].lambda, 1e-4 * path.points[0].lambda, 1e-12);
    Random random(5);
    const std::vector<std::vector<Index>> folds = data::deal_rows(table, 3, random);
    for (const PathPoint& point : path.points) {
      double mean = 0;
      for (const auto& fold : folds) {
        double square = 0, product = 0;
        const double rows = 37 - static_cast<double>(fold.size());
        for (Index i = 0; i < 37; ++i) {
          if (std::binary_search(fold.begin(), fold.end(), i)) continue;
          square += x(i, 0) * x(i, 0) / rows;
          product += x(i, 0) * table.target[i] / rows;
        }
        const double left = std::max(0.0, std::abs(product) - point.lambda * share);
        const double w = std::copysign(left, product) / (square + 0.2 + point.lambda * (1 - share));
        for (const Index i : fold) mean += std::pow(x(i, 0) * w - table.target[i], 2) / 2 / 37;
      }
      EXPECT_NEAR(point.loss, mean, 5e-3 * mean);  // the path is solved to a gap of 1e-5
    }
  }
}

TEST(CrossValidation, ThePathOfL1StartsAtTheSmallestLambdaThatLeavesNoWeights) {
  for (const Family family : {Family::linear, Family::logistic, Family::softmax}) {
    for (const bool spared : {false, true}) {
      data::Table table = random_table(family, 60, 4);
      std::get<DenseMatrix<double>>(table.features).col(1).array() += 3;  // the intercept matters
      ThreadPool pool(1);
      FitOptions options = plain();
      options.intercept = spared;
      options.penalty.spare_last = spared;
      options.l1_share = 0.5;
      options.row_weights = random_matrix(60, 1, 5).cwiseAbs();
      const PenaltyPath path = cross_validate<double>(table, family, options, {2, 2, 1}, pool);
      const auto problem =
          make_problem<double>(table, prepare(table, family, options), pool, nullptr, options.row_weights);
      for (const double share : {1 + 1e-9, 0.98}) {
        problem->set_penalty(with_elastic_net(options.penalty, share * path.points[0].lambda, 0.5));
        const auto outcome = solve(*problem, {.gap_tolerance = 1e-12}, State<double>{});
        EXPECT_EQ(outcome.state.weights.topRows(4).isZero(0), share > 1) << to_string(family) << ", " << share;
      }
    }
  }
}

TEST(CrossValidation, AShareOfL1IsBetweenNoneAndAll) {
  ThreadPool pool(1);
  FitOptions options = plain();
  for (const double share : {-0.1, 1.1, std::nan("")}) {
    options.l1_share = share;
    EXPECT_THROW(cross_validate<double>(random_table(Family::linear, 9, 2), Family::linear, options, {}, pool), Error);
  }
}

TEST(CrossValidation, FeaturesThatSayNothingGetAModelToo) {
  data::Table table = random_table(Family::logistic, 20, 2);
  std::get<DenseMatrix<double>>(table.features).setZero();
  FitOptions options;
  options.l1_share = 1;
  const Model model = fit(table, options);
  EXPECT_TRUE(model.weights.topRows(2).isZero(0));
  EXPECT_NEAR(model.weights(2, 0), std::log(table.target.sum() / (20 - table.target.sum())), 1e-3);
}

TEST(CrossValidation, NoiseWantsALargePenaltyAndASignalASmallOne) {
  data::Table table = random_table(Family::linear, 60, 20);
  ThreadPool pool(1);
  const PenaltyPath signal = cross_validate<double>(table, Family::linear, plain(), {}, pool);
  table.target = random_matrix(60, 1, 99);
  const PenaltyPath noise = cross_validate<double>(table, Family::linear, plain(), {}, pool);
  EXPECT_GT(noise.points[noise.best].lambda, 10 * signal.points[signal.best].lambda);
}

TEST(CrossValidation, AnyNumberOfThreadsGivesTheSameBits) {
  const data::Table table = random_table(Family::softmax, 120, 4);
  std::vector<double> losses;
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    const PenaltyPath path = cross_validate<double>(table, Family::softmax, plain(), {3, 3, 1}, pool);
    std::vector<double> now;
    for (const PathPoint& point : path.points) now.push_back(point.loss);
    if (losses.empty()) losses = now;
    EXPECT_EQ(losses, now) << threads;
  }
}

TEST(CrossValidation, SeveralProcessesAgreeOnThePathOfOne) {
  const data::Table table = random_table(Family::logistic, 80, 5);
  ThreadPool pool(1);
  const PenaltyPath alone = cross_validate<double>(table, Family::logistic, {}, {3, 4, 1}, pool);
  const auto paths = test::run_threads<PenaltyPath>(3, [&](Communicator& communicator) {
    ThreadPool own(1);
    const auto [first, last] = share_of(table.rows(), communicator.rank(), communicator.size());
    std::vector<Index> rows(static_cast<std::size_t>(last - first));
    std::iota(rows.begin(), rows.end(), first);
    return cross_validate<double>(data::take_rows(table, rows), Family::logistic, {}, {3, 4, 1}, own, &communicator);
  });
  for (const PenaltyPath& path : paths) {
    EXPECT_EQ(path.best, alone.best);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(path.points[i].loss, paths[0].points[i].loss);
      EXPECT_NEAR(path.points[i].loss, alone.points[i].loss, 1e-9 * alone.points[i].loss);
    }
  }
}

TEST(CrossValidation, TwoRowsSufficeAndOneIsRefused) {
  ThreadPool pool(1);
  EXPECT_EQ(cross_validate<double>(random_table(Family::linear, 2, 1), Family::linear, plain(), {}, pool).folds, 2);
  EXPECT_THROW(cross_validate<double>(random_table(Family::linear, 1, 1), Family::linear, plain(), {}, pool), Error);
}

TEST(CrossValidation, StopsWhenItIsTold) {
  int asked = 0;
  ThreadPool pool(1);
  try {
    cross_validate<double>(random_table(Family::linear, 20, 2), Family::linear, plain(), {}, pool, nullptr,
                           [&] { return ++asked < 7; });
    ADD_FAILURE() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::interrupted);
  }
  EXPECT_EQ(asked, 7);
}

}  // namespace
}  // namespace lipschitzlr::linear

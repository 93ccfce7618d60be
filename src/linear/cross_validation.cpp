#include "lipschitzlr/linear/cross_validation.hpp"

#include <algorithm>
#include <cmath>

#include "linear/certificate.hpp"
#include "linear/full_pass.hpp"
#include "linear/gram_lasso.hpp"
#include "linear/hessian.hpp"
#include "linear/least_squares_path.hpp"
#include "linear/newton_path.hpp"
#include "linear/row_space.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/bound/norms.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/held_rows.hpp"
#include "lipschitzlr/linear/newton.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kPathLength = 1e-8;                      // the last lambda, as a share of the first
constexpr double kL1Length = 1e-4, kWideL1Length = 1e-2;  // ... with L1, and with more columns than rows
constexpr double kPathGap = 1e-4;  // relative: the held-out loss is not sensitive to the last digits of the optimum,
                                   // but more so where weights become 0: kL1PathGap
constexpr double kLargeProblem = 5e6;  // stored values times outputs: five folds would take many seconds
constexpr double kInterceptGap = 1e-12;
constexpr std::int64_t kPathSteps = 100;
constexpr int kFolds = 5;
constexpr std::size_t kLastValues = 4;                  // of the path, from which its end is seen:
constexpr double kFlatShare = 1e-5, kRisenShare = 0.1;  // they hardly differ, or are all so far above the lowest
constexpr Index kMostMoments = 1000;                    // features whose Gram matrix is worth keeping for a path
constexpr Index kTall = 50;                             // rows for each feature
constexpr int kPartsOfSplit = 25, kHeldParts = 5;
constexpr Index kLeastRowsOfSplit = 4 * kPartsOfSplit;

using RowList = std::vector<Index>;

// One training along the path: the rows that it leaves out, in the parts in which they are measured.
using Round = std::vector<RowList>;

// The values that a pass over the rows multiplies.
double work_of(const data::TableView& table, Family family, bool intercept, Communicator* communicator) {
  const double stored = data::stored_in(table.features) + (intercept ? static_cast<double>(table.rows()) : 0);
  return all_reduce_sum(communicator, stored) *
         (family == Family::softmax ? static_cast<double>(table.labels.size()) : 1);
}

Rounds rounds_of(const data::TableView& table, Index rows, double work, const PathOptions& path,
                 Communicator* communicator) {
  Random random(path.seed);
  // Of few rows, however wide, a part would be a row or none.
  if (path.folds == 0 && work > kLargeProblem && rows >= kLeastRowsOfSplit) {
    std::vector<RowList> parts = data::deal_rows(table, kPartsOfSplit, random, communicator);
    parts.resize(kHeldParts);
    return {std::move(parts)};
  }
  const Index folds = std::min<Index>(path.folds > 0 ? path.folds : kFolds, rows);
  Rounds rounds;
  for (RowList& fold : data::deal_rows(table, static_cast<int>(folds), random, communicator)) {
    rounds.push_back({std::move(fold)});
  }
  return rounds;
}

RowList rows_without(const Round& round, Index rows) {
  std::vector<bool> left_out(static_cast<std::size_t>(rows));
  for (const RowList& part : round) {
    for (const Index row : part) left_out[static_cast<std::size_t>(row)] = true;
  }
  RowList others;
  for (Index row = 0; row < rows; ++row) {
    if (!left_out[static_cast<std::size_t>(row)]) others.push_back(row);
  }
  return others;
}

// What was measured of one part along the path.
struct PartLosses {
  double weight;
  std::vector<double> losses;
};

std::vector<PathPoint> curve_of(const std::vector<double>& lambdas, const std::vector<PartLosses>& parts) {
  double total = 0;
  for (const PartLosses& part : parts) total += part.weight;
  std::vector<PathPoint> points;
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    double mean = 0, variance = 0;
    for (const PartLosses& part : parts) mean += part.weight / total * part.losses[i];
    for (const PartLosses& part : parts) variance += part.weight / total * std::pow(part.losses[i] - mean, 2);
    points.push_back({lambdas[i], mean, std::sqrt(variance / static_cast<double>(parts.size() - 1))});
  }
  return points;
}

Vector<double> weights_of(const Vector<double>& all, const RowList& rows) {
  return all.size() == 0 ? all : Vector<double>(all(rows));
}

// Of all rows: those that are given as they weigh, 0 for the others, from which nothing is learned then.
Vector<double> only_weights_of(const Vector<double>& all, const RowList& rows, Index count) {
  Vector<double> weights = Vector<double>::Zero(count);
  for (const Index row : rows) weights[row] = all.size() == 0 ? 1 : all[row];
  return weights;
}

// The parts of a round together, so that one pass over the rows measures all of them. Collective.
class HeldParts {
 public:
  HeldParts(const data::TableView& training, const Round& round, const data::Scaler& scaler, const FitOptions& options,
            Communicator* communicator)
      : communicator_(communicator) {
    std::vector<std::pair<Index, std::size_t>> rows;  // and the part of each
    for (std::size_t part = 0; part < round.size(); ++part) {
      for (const Index row : round[part]) rows.emplace_back(row, part);
      const Vector<double> weights = weights_of(options.row_weights, round[part]);
      weights_.push_back(weights.size() == 0 ? static_cast<double>(round[part].size()) : weights.sum());
    }
    all_reduce_sum(communicator, weights_);
    std::sort(rows.begin(), rows.end());
    RowList numbers;
    for (const auto& [row, part] : rows) numbers.push_back(row), part_of_.push_back(part);
    rows_.emplace(training, numbers, scaler, weights_of(options.row_weights, numbers), options.most_held);
  }

  double weight(std::size_t part) const { return weights_[part]; }
  // The mean loss of each part.
  std::vector<double> losses(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool) const {
    std::vector<double> means(weights_.size());
    const Vector<double> losses = rows_->losses(setup, weights, pool);
    for (std::size_t i = 0; i < part_of_.size(); ++i) means[part_of_[i]] += losses[static_cast<Index>(i)];
    all_reduce_sum(communicator_, means);
    for (std::size_t part = 0; part < means.size(); ++part) means[part] /= weights_[part] > 0 ? weights_[part] : 1;
    return means;
  }

 private:
  Communicator* communicator_;
  std::vector<double> weights_;
  std::vector<std::size_t> part_of_;
  std::optional<HeldRows> rows_;
};

void expect_going(const std::function<bool()>& going, Communicator* communicator) {
  const bool stops = going && !going();
  if (all_reduce_max(communicator, stops ? 1.0 : 0.0) > 0) {
    throw Error(Fault::interrupted, "interrupted while the penalty was being chosen; nothing was trained yet");
  }
}

// The weights when only the last column, the intercept's, has any.
template <class Scalar>
Weights<double> intercept_alone(const Problem<Scalar>& problem) {
  const Index last = problem.features() - 1;
  const DenseMatrix<Scalar> column =
      std::visit([&](const auto& matrix) { return DenseMatrix<Scalar>(matrix.col(last)); }, problem.matrix());
  ProblemSetup setup = problem.setup();
  setup.penalty = {};
  const Problem<Scalar> alone(column, problem.targets(), setup, problem.pool(), problem.communicator(),
                              problem.row_weights());
  Weights<double> weights = Weights<double>::Zero(last + 1, setup.classes);
  weights.row(last) =
      solve_newton(alone, {.gap_tolerance = kInterceptGap}, State<Scalar>{}).state.weights.template cast<double>();
  return weights;
}

// The smallest l1 at which the penalised weights are all 0; collective.
template <class Scalar>
double l1_of_no_weights(const Problem<Scalar>& problem) {
  const bool spared = problem.setup().penalty.spare_last;
  const Weights<double> weights =
      spared ? intercept_alone(problem) : problem.zero_weights().template cast<double>().eval();
  const Index kept = problem.features() - (spared ? 1 : 0);
  return kept > 0 ? full_pass(problem, weights).gradient.topRows(kept).cwiseAbs().maxCoeff() : 0;
}

// beta of many rows and few columns: from X'X, of which the spectral norm needs no pass over the rows.
template <class Scalar>
double beta_of_gram(const Problem<Scalar>& problem) {
  const DenseMatrix<double> matrix = mean_gram(problem, {});
  return largest_curvature(problem.setup().family) * bound::spectral_norm(matrix).upper() + problem.setup().penalty.l2;
}

template <class Scalar>
double first_lambda(const Problem<Scalar>& problem, double l1_share) {
  if (l1_share > 0) return l1_of_no_weights(problem) / l1_share;
  const bool tall = problem.features() <= kMostMoments && problem.rows() >= kTall * problem.features();
  if (tall && problem.setup().penalty.tikhonov.empty()) return beta_of_gram(problem);
  return problem.constant(ConstantKind::gradient).value;
}

std::vector<double> path_of(double first, double l1_share, bool wide, int values) {
  if (!(first > 0)) first = 1;  // features that say nothing: every lambda gives the same weights
  const double length = l1_share == 0 ? kPathLength : wide ? kWideL1Length : kL1Length;
  std::vector<double> lambdas;
  for (int i = 0; i < values; ++i) lambdas.push_back(first * std::pow(length, i / (values - 1.0)));
  return lambdas;
}

void choose(PenaltyPath& path) {
  const auto by_loss = [](const PathPoint& a, const PathPoint& b) { return a.loss < b.loss; };
  const auto best = std::min_element(path.points.begin(), path.points.end(), by_loss);
  const auto near = [&](const PathPoint& point) { return point.loss <= best->loss + best->standard_error; };
  path.best = static_cast<std::size_t>(best - path.points.begin());
  path.sparing = static_cast<std::size_t>(std::find_if(path.points.begin(), best, near) - path.points.begin());
}

// The optimum for one lambda after the other, each from the one before. Least squares of few features need the rows
// only once: for X'X and X'y. Far fewer rows than features are solved in the space of the rows.
template <class Scalar>
class PathSolver {
 public:
  PathSolver(Problem<Scalar>& problem, double l1_share, PathMatrices& matrices) : problem_(problem) {
    options_.epochs = kPathSteps;
    // Least squares would factor a matrix of that size for each lambda.
    if (l1_share == 0 && problem.setup().family != Family::linear) space_ = RowSpace<Scalar>::of(problem);
    if (space_) {
      in_space_ = std::make_unique<PathSolver<double>>(space_->reduced(), 0, matrices_of_space_);
      return;
    }
    if (l1_share == 0 && takes_newton_path(problem)) newton_.emplace(problem, matrices);
    if (l1_share > 0) {
      lasso_ = gram_lasso(problem);
      return;
    }
    if (problem.setup().family != Family::linear || problem.features() > kMostMoments) return;
    const Penalty penalty = problem.setup().penalty;
    problem.set_penalty({});
    gram_ = mean_gram(problem, {});
    target_product_ = -full_pass(problem, problem.zero_weights().template cast<double>()).gradient;
    problem.set_penalty(penalty);
  }

  Weights<double> solve_with(const Penalty& penalty, std::size_t number) {
    if (in_space_) return space_->expanded(in_space_->solve_with(penalty, number));
    if (newton_) return newton_->solve_with(penalty, number);
    if (lasso_) return lasso_->solve(penalty.l1, penalty.l2, kL1PathGap);
    problem_.set_penalty(penalty);
    if (gram_.size() > 0 && penalty.l1 == 0) {
      return bound::CurvatureMatrix(gram_ + penalty_curvature(penalty, problem_.features())).step(target_product_);
    }
    options_.gap_tolerance = penalty.l1 > 0 ? kL1PathGap : kPathGap;
    // From weights near the optimum, a Hessian of some rows and a few passes take less time than Newton's steps.
    const bool samples = problem_.setup().family == Family::logistic && problem_.features() <= kMostMoments;
    options_.solver = penalty.l1 > 0 || !samples ? Solver::automatic : Solver::lbfgs;
    if (samples) options_.coordinates = Coordinates::sample;
    State<Scalar> start;
    start.weights = std::move(weights_);
    weights_ = solve(problem_, options_, std::move(start)).state.weights;
    return weights_.template cast<double>();
  }

 private:
  Problem<Scalar>& problem_;
  SolverOptions options_;
  Eigen::MatrixXd gram_;
  Weights<double> target_product_;
  Weights<Scalar> weights_;
  std::optional<NewtonPath<Scalar>> newton_;
  std::optional<GramLasso> lasso_;
  std::optional<RowSpace<Scalar>> space_;
  PathMatrices matrices_of_space_;  // whose coordinates are those of this fold alone
  std::unique_ptr<PathSolver<double>> in_space_;
};

// Whether nothing can be expected of smaller lambdas: the loss has stopped to change, or has risen for good.
bool path_ends(const std::vector<PartLosses>& parts) {
  std::vector<double> losses(parts.front().losses.size());
  for (const PartLosses& part : parts) {
    for (std::size_t i = 0; i < losses.size(); ++i) losses[i] += part.weight * part.losses[i];
  }
  if (losses.size() <= kLastValues) return false;
  const double lowest = *std::min_element(losses.begin(), losses.end());
  const auto last = losses.end() - kLastValues;
  const auto [least, most] = std::minmax_element(last - 1, losses.end());
  return *most - *least <= kFlatShare * *most || *std::min_element(last, losses.end()) > (1 + kRisenShare) * lowest;
}

// Trains along the path without the rows of the round and measures each of its parts. The first round may end it.
template <class Scalar>
std::vector<PartLosses> measure_round(const data::TableView& training, Family family, const FitOptions& options,
                                      const Round& round, std::vector<double>& lambdas, bool first,
                                      PathMatrices& matrices, ThreadPool& pool, Communicator* communicator,
                                      const std::function<bool()>& going) {
  RowList kept = rows_without(round, training.rows());
  FitOptions own = options;
  own.row_weights = only_weights_of(options.row_weights, kept, training.rows());
  own.weight_bound = kNoWeightBound;
  const Preparation preparation = prepare(training, family, own, communicator);
  own.row_weights.resize(0);
  const auto problem = make_problem<Scalar>(training, &kept, preparation, pool, communicator,
                                            weights_of(options.row_weights, kept), options.most_held);
  RowList().swap(kept);  // a number for each row, as the weights were
  const HeldParts parts(training, round, preparation.scaler, options, communicator);
  std::vector<PartLosses> measured;
  for (std::size_t part = 0; part < round.size(); ++part) measured.push_back({parts.weight(part), {}});
  PathSolver<Scalar> solver(*problem, options.l1_share, matrices);
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    expect_going(going, communicator);
    const Weights<double> found = solver.solve_with(with_elastic_net(options.penalty, lambdas[i], options.l1_share), i);
    const std::vector<double> losses = parts.losses(problem->setup(), found, pool);
    for (std::size_t part = 0; part < losses.size(); ++part) measured[part].losses.push_back(losses[part]);
    if (first && path_ends(measured)) lambdas.resize(i + 1);
  }
  return measured;
}

// The same for least squares, where all lambdas of a round are solved together.
std::vector<PartLosses> measure_rounds(const LeastSquaresPath& path, const Rounds& rounds,
                                       const Vector<double>& weights, std::vector<double>& lambdas,
                                       Communicator* communicator, const std::function<bool()>& going) {
  std::vector<PartLosses> measured;
  const auto add = [&](const Round& round, const Eigen::MatrixXd& losses) {
    const std::size_t before = measured.size();
    for (const RowList& rows : round) {
      const Vector<double> own = weights_of(weights, rows);
      const double weight = own.size() == 0 ? static_cast<double>(rows.size()) : own.sum();
      measured.push_back({all_reduce_sum(communicator, weight), {}});
    }
    for (std::size_t i = 0; i < lambdas.size(); ++i) {
      expect_going(going, communicator);
      for (std::size_t part = 0; part < round.size(); ++part) {
        measured[before + part].losses.push_back(losses(static_cast<Index>(part), static_cast<Index>(i)));
      }
      if (before == 0 && path_ends(measured)) lambdas.resize(i + 1);
    }
  };
  add(rounds[0], path.losses(0, 1, lambdas)[0]);
  const std::vector<Eigen::MatrixXd> others = path.losses(1, rounds.size(), lambdas);
  for (std::size_t i = 0; i < others.size(); ++i) add(rounds[i + 1], others[i]);
  return measured;
}

}  // namespace

template <class Scalar>
PenaltyPath cross_validate(const data::TableView& training, Family family, const FitOptions& given,
                           const PathOptions& path, ThreadPool& pool, Communicator* communicator,
                           const std::function<bool()>& going) {
  const auto rows = static_cast<Index>(all_reduce_sum(communicator, static_cast<double>(training.rows())));
  if (rows < 2) throw Error(Fault::data, "cross-validation needs at least two rows");
  if (!(given.l1_share >= 0 && given.l1_share <= 1)) {
    throw Error(Fault::usage, "the share of L1 in a penalty must be between 0 and 1");
  }
  FitOptions options = given;
  // Many small parts are as much as all rows.
  const double bytes = all_reduce_max(communicator, data::stored_in(training.features) * sizeof(Scalar));
  if (bytes > static_cast<double>(given.most_held) || data::is_streamed(training.features)) options.most_held = 0;
  const Rounds rounds =
      rounds_of(training, rows, work_of(training, family, options.intercept, communicator), path, communicator);
  const bool wide = training.columns() + (options.intercept ? 1 : 0) > rows;
  std::unique_ptr<LeastSquaresPath> together;
  if (family == Family::linear) together = least_squares_path(training, options, rounds, pool, communicator);
  double first = 0;
  const bool standard = options.scaling.value_or(data::Scaling::standard) == data::Scaling::standard;
  if (together && (standard || options.l1_share > 0)) {
    first = together->first_lambda();
  } else {
    first = first_lambda(*make_problem<Scalar>(training, nullptr, prepare(training, family, options, communicator),
                                               pool, communicator, options.row_weights, options.most_held),
                         options.l1_share);
  }
  std::vector<double> lambdas = path_of(first, options.l1_share, wide, path.values);
  std::vector<PartLosses> measured;
  PathMatrices matrices;
  if (together) {
    measured = measure_rounds(*together, rounds, options.row_weights, lambdas, communicator, going);
  }
  for (const Round& round : rounds) {
    if (together) break;
    for (PartLosses& part : measure_round<Scalar>(training, family, options, round, lambdas, measured.empty(), matrices,
                                                  pool, communicator, going)) {
      measured.push_back(std::move(part));
    }
  }
  PenaltyPath result;
  result.points = curve_of(lambdas, measured);
  result.folds = static_cast<int>(rounds.size());
  choose(result);
  return result;
}

template PenaltyPath cross_validate<float>(const data::TableView&, Family, const FitOptions&, const PathOptions&,
                                           ThreadPool&, Communicator*, const std::function<bool()>&);
template PenaltyPath cross_validate<double>(const data::TableView&, Family, const FitOptions&, const PathOptions&,
                                            ThreadPool&, Communicator*, const std::function<bool()>&);

}  // namespace lipschitzlr::linear

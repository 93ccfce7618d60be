#include "lipschitzlr/linear/cross_validation.hpp"

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/table/split.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kPathLength = 1e-8;   // the last lambda, as a share of the first
constexpr double kPathGap = 1e-4;      // relative: the held-out loss is not sensitive to the last digits of the optimum
constexpr double kLargeProblem = 5e6;  // stored values times outputs: five folds would take many seconds
constexpr std::int64_t kPathSteps = 100;
constexpr int kFolds = 5;
constexpr int kPartsOfSplit = 25, kHeldParts = 5;

using RowList = std::vector<Index>;

// One training along the path: the rows that it leaves out, in the parts in which they are measured.
using Round = std::vector<RowList>;

std::vector<Round> rounds_of(const data::Table& table, const Shape& shape, const PathOptions& path) {
  Random random(path.seed);
  if (path.folds == 0 && shape.stored * static_cast<double>(shape.outputs) > kLargeProblem) {
    std::vector<RowList> parts = data::deal_rows(table, kPartsOfSplit, random);
    parts.resize(kHeldParts);
    return {std::move(parts)};
  }
  const Index folds = std::min<Index>(path.folds > 0 ? path.folds : kFolds, table.rows());
  std::vector<Round> rounds;
  for (RowList& fold : data::deal_rows(table, static_cast<int>(folds), random)) rounds.push_back({std::move(fold)});
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

// Rows that were held out, as the model sees them.
class HeldPart {
 public:
  HeldPart(const data::Table& rows, const data::Scaler& scaler, Vector<double> row_weights)
      : design_(std::visit([&](const auto& matrix) { return Design(scaler.design<double>(matrix)); }, rows.features)),
        target_(rows.target),
        row_weights_(std::move(row_weights)) {}

  double weight() const { return row_weights_.size() == 0 ? static_cast<double>(target_.size()) : row_weights_.sum(); }
  double loss(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool) const {
    const DenseMatrix<double> scored =
        std::visit([&](const auto& matrix) { return scores(matrix, weights, pool); }, design_);
    if (!(weight() > 0)) return 0;
    return measure(setup.family, scored, target_, std::max<Index>(2, setup.classes), row_weights_).loss;
  }

 private:
  using Design = std::variant<DenseMatrix<double>, SparseMatrix<double>>;
  Design design_;
  Vector<double> target_, row_weights_;
};

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

void expect_going(const std::function<bool()>& going, Communicator* communicator) {
  const bool stops = going && !going();
  if (all_reduce_max(communicator, stops ? 1.0 : 0.0) > 0) {
    throw Error(Fault::interrupted, "interrupted while the penalty was being chosen; nothing was trained yet");
  }
}

}  // namespace

template <class Scalar>
PenaltyPath cross_validate(const data::Table& training, Family family, FitOptions options, const PathOptions& path,
                           ThreadPool& pool, Communicator* communicator, const std::function<bool()>& going) {
  if (training.rows() < 2) throw Error(Fault::data, "cross-validation needs at least two rows");
  options.penalty.l2 = 0;
  const auto whole =
      make_problem<Scalar>(training, prepare(training, family, options), pool, communicator, options.row_weights);
  const std::vector<Round> rounds = rounds_of(training, shape_of(*whole), path);
  const double beta = whole->constant(ConstantKind::gradient).value;
  std::vector<double> lambdas;
  for (int i = 0; i < path.values; ++i) lambdas.push_back(beta * std::pow(kPathLength, i / (path.values - 1.0)));

  SolverOptions solver;
  solver.gap_tolerance = kPathGap;
  solver.epochs = kPathSteps;
  std::vector<PartLosses> measured;
  for (const Round& round : rounds) {
    const RowList kept = rows_without(round, training.rows());
    const data::Table train = data::take_rows(training, kept);
    const Preparation preparation = prepare(train, family, options);
    const auto problem =
        make_problem<Scalar>(train, preparation, pool, communicator, weights_of(options.row_weights, kept));
    std::vector<HeldPart> parts;
    for (const RowList& rows : round) {
      parts.emplace_back(data::take_rows(training, rows), preparation.scaler, weights_of(options.row_weights, rows));
    }
    const std::size_t first = measured.size();
    for (const HeldPart& part : parts) measured.push_back({part.weight(), {}});
    Weights<Scalar> weights = problem->zero_weights();
    for (const double lambda : lambdas) {
      expect_going(going, communicator);
      options.penalty.l2 = lambda;
      problem->set_penalty(options.penalty);
      State<Scalar> start;
      start.weights = std::move(weights);
      weights = solve(*problem, solver, std::move(start)).state.weights;
      const Weights<double> found = weights.template cast<double>();
      for (std::size_t i = 0; i < parts.size(); ++i) {
        measured[first + i].losses.push_back(parts[i].loss(problem->setup(), found, pool));
      }
    }
    options.penalty.l2 = 0;
  }

  PenaltyPath result;
  result.points = curve_of(lambdas, measured);
  result.folds = static_cast<int>(rounds.size());
  const auto by_loss = [](const PathPoint& a, const PathPoint& b) { return a.loss < b.loss; };
  const auto best = std::min_element(result.points.begin(), result.points.end(), by_loss);
  const auto near = [&](const PathPoint& point) { return point.loss <= best->loss + best->standard_error; };
  result.best = static_cast<std::size_t>(best - result.points.begin());
  result.sparing = static_cast<std::size_t>(std::find_if(result.points.begin(), best, near) - result.points.begin());
  return result;
}

template PenaltyPath cross_validate<float>(const data::Table&, Family, FitOptions, const PathOptions&, ThreadPool&,
                                           Communicator*, const std::function<bool()>&);
template PenaltyPath cross_validate<double>(const data::Table&, Family, FitOptions, const PathOptions&, ThreadPool&,
                                            Communicator*, const std::function<bool()>&);

}  // namespace lipschitzlr::linear

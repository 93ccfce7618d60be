#include "lipschitzlr/linear/cross_validate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>

#include "linear/take_rows.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kLargestShare = 10, kDecades = 8;  // of the path of l2, from the smoothness constant
constexpr double kLargeWork = 2e6;                  // stored values times outputs from which one split is enough
constexpr std::size_t kRisesToEnd = 4;

// The fold of every row of all processes: each class' rows, shuffled, are dealt out in turn.
std::vector<Index> folds_of(const std::vector<double>& targets, bool classes, const PathOptions& options) {
  std::map<double, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < targets.size(); ++i) groups[classes ? targets[i] : 0].push_back(i);
  Random random(options.seed);
  std::vector<Index> folds(targets.size());
  Index next = 0;
  for (auto& [value, rows] : groups) {
    random.shuffle(std::span(rows));
    for (const std::size_t row : rows) folds[row] = next++ % options.folds;
  }
  return folds;
}

// Sums over rows that were held out.
struct HeldOut {
  double weight = 0, loss = 0, squares = 0;
  double mean() const { return loss / weight; }
};

template <class Scalar>
class Fold {
 public:
  using Matrix = typename Problem<Scalar>::Matrix;

  Fold(const Problem<Scalar>& whole, const std::vector<Index>& training, const std::vector<Index>& tested)
      : problem_(rows_of(whole.matrix(), training), entries_of(whole.targets(), training), whole.setup(), whole.pool(),
                 whole.communicator(), entries_of(whole.row_weights(), training)),
        test_(rows_of(whole.matrix(), tested)),
        targets_(entries_of(whole.targets(), tested).template cast<double>()),
        weights_(entries_of(whole.row_weights(), tested)) {}

  // Continues from the weights of the penalty before.
  HeldOut measure(const Penalty& penalty, const SolverOptions& options) {
    problem_.set_penalty(penalty);
    State<Scalar> start;
    start.weights = std::move(reached_);
    reached_ = solve(problem_, options, std::move(start)).state.weights;
    const DenseMatrix<double> scored = std::visit(
        [&](const auto& matrix) { return scores(matrix, reached_, problem_.pool()).template cast<double>().eval(); },
        test_);
    Vector<double> sums = Vector<double>::Zero(3);
    for (Index i = 0; i < targets_.size(); ++i) {
      const double weight = weights_.size() == 0 ? 1 : weights_[i];
      const double loss = row_loss(problem_.setup().family, scored, targets_[i], i);
      sums += Eigen::Vector3d(weight, weight * loss, weight * loss * loss);
    }
    all_reduce_sum(problem_.communicator(), sums);
    return {sums[0], sums[1], sums[2]};
  }

 private:
  static Matrix rows_of(const Matrix& matrix, const std::vector<Index>& rows) {
    return std::visit([&](const auto& all) { return Matrix(take_rows(all, rows)); }, matrix);
  }
  template <class Number>
  static Vector<Number> entries_of(const Vector<Number>& all, const std::vector<Index>& rows) {
    return all.size() == 0 ? all : Vector<Number>(all(rows));
  }

  Problem<Scalar> problem_;
  Matrix test_;
  Vector<double> targets_, weights_;
  Weights<Scalar> reached_;
};

template <class Scalar>
std::vector<std::unique_ptr<Fold<Scalar>>> make_folds(const Problem<Scalar>& problem, const PathOptions& options,
                                                      Index splits) {
  const Vector<double> own = problem.targets().template cast<double>();
  const std::vector<double> targets = all_gather(problem.communicator(), {own.begin(), own.end()});
  const std::vector<Index> folds = folds_of(targets, problem.setup().family != Family::linear, options);
  std::vector<std::unique_ptr<Fold<Scalar>>> made;
  for (Index split = 0; split < splits; ++split) {
    std::vector<Index> training, tested;
    for (Index i = 0; i < own.size(); ++i) {
      (folds[static_cast<std::size_t>(problem.first_row() + i)] == split ? tested : training).push_back(i);
    }
    made.push_back(std::make_unique<Fold<Scalar>>(problem, training, tested));
  }
  return made;
}

PathPoint point_of(double factor, const std::vector<HeldOut>& held) {
  const auto count = static_cast<double>(held.size());
  if (held.size() == 1) {
    const double mean = held[0].mean();
    return {factor, mean, std::sqrt(std::max(0.0, held[0].squares / held[0].weight - mean * mean) / held[0].weight)};
  }
  double mean = 0, squares = 0;
  for (const HeldOut& fold : held) mean += fold.mean() / count;
  for (const HeldOut& fold : held) squares += (fold.mean() - mean) * (fold.mean() - mean);
  return {factor, mean, std::sqrt(squares / (count - 1) / count)};
}

void choose(Path& path) {
  path.best = path.plainest = 0;
  for (std::size_t i = 1; i < path.points.size(); ++i) {
    if (path.points[i].loss < path.points[path.best].loss) path.best = i;
  }
  const PathPoint& best = path.points[path.best];
  while (path.points[path.plainest].loss > best.loss + best.error) ++path.plainest;
}

// Whether the last losses only rose, and far above the smallest.
bool past_minimum(const Path& path) {
  const std::size_t count = path.points.size();
  if (count < path.best + kRisesToEnd + 1) return false;
  for (std::size_t i = count - kRisesToEnd; i < count; ++i) {
    if (path.points[i].loss < path.points[i - 1].loss) return false;
  }
  return path.points.back().loss > path.points[path.best].loss + path.points[path.best].error;
}

}  // namespace

template <class Scalar>
Path cross_validate(const Problem<Scalar>& problem, const PathOptions& options) {
  if (options.folds < 2 || options.values < 2) {
    throw Error(Fault::usage, "cross-validation needs at least 2 folds and 2 values of the penalty's factor");
  }
  if (problem.rows() < options.folds) {
    throw Error(Fault::data, fmt::format("{} rows can't be split into {} folds; give the penalty's factor as a number",
                                         problem.rows(), options.folds));
  }
  const Shape shape = shape_of(problem);
  const bool large = shape.stored * static_cast<double>(shape.outputs) > kLargeWork;
  Path path;
  path.splits = options.one_split.value_or(large) ? 1 : options.folds;
  const auto folds = make_folds(problem, options, path.splits);
  const double largest = kLargestShare * problem.measure(ConstantKind::gradient, 0).data_part;
  if (!(largest > 0)) throw Error(Fault::data, "all features are 0, so there is no penalty to choose");
  Penalty penalty = problem.setup().penalty;
  for (Index value = 0; value < options.values && !past_minimum(path); ++value) {
    penalty.l2 =
        largest * std::pow(10.0, -kDecades * static_cast<double>(value) / static_cast<double>(options.values - 1));
    std::vector<HeldOut> held;
    for (const auto& fold : folds) held.push_back(fold->measure(penalty, options.solver));
    path.points.push_back(point_of(penalty.l2, held));
    path.fits += path.splits;
    choose(path);
  }
  return path;
}

template Path cross_validate(const Problem<float>&, const PathOptions&);
template Path cross_validate(const Problem<double>&, const PathOptions&);

}  // namespace lipschitzlr::linear

#include "lipschitzlr/linear/coordinate.hpp"

#include <algorithm>
#include <cmath>

#include "linear/certificate.hpp"
#include "linear/certified_run.hpp"
#include "linear/sparse_model.hpp"
#include "linear/sparse_penalty.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kFallShare = 1e-4;  // Armijo's
constexpr int kMostHalves = 30;
constexpr double kQuietSweep = 0.01, kLeastQuietSweep = 1e-16;  // of the first sweep's fall; the first times the gap
constexpr std::size_t kMostWorking = 2000;
constexpr Index kMostCoupled = 1000;  // weights of all outputs whose common Hessian is worth its size
constexpr double kFlat = 8 * std::numeric_limits<double>::epsilon();

template <class Scalar>
DenseMatrix<Scalar> columns_of(const DenseMatrix<Scalar>& matrix, const std::vector<Index>& columns) {
  return matrix(Eigen::all, columns);
}

// In memory, unless they may not be there: several products are made of them.
template <class Scalar>
StreamedRows<Scalar> columns_of(const StreamedRows<Scalar>& matrix, const std::vector<Index>& columns) {
  const StreamedRows<Scalar> streamed = matrix.take_columns(columns);
  if (!streamed.obstacle().empty()) return streamed;
  const auto taken = std::make_shared<const DenseMatrix<Scalar>>(streamed.dense());
  const auto fill = [taken](const Index*, Index first, Index count, Scalar* to) {
    std::copy_n(taken->data() + first * taken->cols(), count * taken->cols(), to);
  };
  return {taken->rows(), taken->cols(), fill};
}

template <class Scalar>
SparseMatrix<Scalar> columns_of(const SparseMatrix<Scalar>& matrix, const std::vector<Index>& columns) {
  std::vector<Index> place(static_cast<std::size_t>(matrix.cols()), -1);
  for (std::size_t i = 0; i < columns.size(); ++i) place[static_cast<std::size_t>(columns[i])] = static_cast<Index>(i);
  SparseMatrix<Scalar> taken(matrix.rows(), static_cast<Index>(columns.size()));
  for (Index row = 0; row < matrix.rows(); ++row) {
    taken.startVec(row);
    for (typename SparseMatrix<Scalar>::InnerIterator cell(matrix, row); cell; ++cell) {
      const Index to = place[static_cast<std::size_t>(cell.col())];
      if (to >= 0) taken.insertBack(row, to) = cell.value();
    }
  }
  taken.finalize();
  return taken;
}

template <class Scalar>
class CoordinateDescent {
 public:
  CoordinateDescent(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                    const Observer& observer)
      : problem_(problem),
        penalty_(problem.setup().penalty),
        run_(problem, options, std::move(start), observer),
        kept_(penalized_features(problem)),
        quiet_(std::max(kLeastQuietSweep, kQuietSweep * gap_share(options, problem.setup().family))) {
    run_.state().solver = to_string(Solver::coordinate);
    weights_ = run_.state().weights.template cast<double>();
  }

  Outcome<Scalar> run() {
    pass_ = full_pass(problem_, weights_);
    return run_.loop(*this);
  }

 private:
  friend class CertifiedRun<Scalar>;

  double value(const FullPass& pass) const { return sparse_loss(problem_, pass); }
  Weights<double> leftover(const FullPass& pass) const { return leftover_gradient(problem_, pass); }

  std::optional<Stop> measure() {
    run_.state().weights = weights_.template cast<Scalar>();
    const double gap =
        std::isfinite(pass_.loss) ? sparse_duality_gap(problem_, pass_) : std::numeric_limits<double>::infinity();
    return run_.measure({value(pass_), leftover(pass_).norm(), rate_, gap});
  }

  // In ascending order: the weights that are not 0, the one without a penalty, and those that should move most.
  std::vector<Index> working_set() const {
    const Eigen::VectorXd left = leftover(pass_).rowwise().norm();
    std::vector<Index> set, others;
    for (Index j = 0; j < weights_.rows(); ++j) {
      if (j >= kept_ || !weights_.row(j).isZero(0)) {
        set.push_back(j);
      } else if (left[j] > 0) {
        others.push_back(j);
      }
    }
    std::stable_sort(others.begin(), others.end(), [&](Index a, Index b) { return left[a] > left[b]; });
    if (set.size() + others.size() > kMostWorking) {
      others.resize(
          std::min(others.size(), std::max(kMostWorking, set.size() + 1) - std::min(kMostWorking, set.size())));
    }
    set.insert(set.end(), others.begin(), others.end());
    std::sort(set.begin(), set.end());
    return set;
  }

  // D between two outputs, times the weights of the rows; without their coupling only a bound of it is left.
  Vector<double> curvature_of(Index a, Index b, bool coupled) const {
    const Vector<double>& row_weights = problem_.row_weights();
    if (problem_.setup().family == Family::linear) return row_weights;
    const auto& p = pass_.probabilities;
    Vector<double> d = a == b ? Vector<double>(p.col(a)) : Vector<double>::Zero(p.rows());
    if (coupled) d -= p.col(a).cwiseProduct(p.col(b));
    return row_weights.size() == 0 ? d : Vector<double>(d.cwiseProduct(row_weights));
  }

  // False when no step lowers the loss any more.
  bool step() {
    const std::vector<Index> set = working_set();
    if (set.empty()) return false;
    const auto s = static_cast<Index>(set.size()), outputs = weights_.cols();
    const bool coupled = s * outputs <= kMostCoupled || outputs == 1;
    const Index together = coupled ? outputs : 1;
    Weights<double> target = weights_;
    std::visit(
        [&](const auto& matrix) {
          const auto columns = columns_of(matrix, set);
          for (Index first = 0; first < outputs; first += together) {
            Eigen::MatrixXd h(s * together, s * together);
            for (Index a = 0; a < together; ++a) {
              for (Index b = 0; b <= a; ++b) {
                const Vector<double> d = curvature_of(first + a, first + b, coupled);
                const Eigen::MatrixXd block =
                    gram(columns, d, problem_.pool(), problem_.communicator()) / problem_.total_weight();
                h.block(a * s, b * s, s, s) = block;
                h.block(b * s, a * s, s, s) = block;
              }
              for (Index i = 0; i < s; ++i) {
                if (set[static_cast<std::size_t>(i)] < kept_) h(a * s + i, a * s + i) += penalty_.l2;
              }
            }
            descend(h, set, first, target);
          }
        },
        problem_.matrix());
    return search(target - weights_);
  }

  // Minimises the model over the working set, for as many outputs from the first on as the model has.
  void descend(const Eigen::MatrixXd& h, const std::vector<Index>& set, Index first, Weights<double>& target) const {
    const auto s = static_cast<Index>(set.size());
    const auto feature = [&](Index i) { return set[static_cast<std::size_t>(i % s)]; };
    Eigen::VectorXd slope(h.rows()), limits(h.rows()), weights(h.rows());
    for (Index i = 0; i < h.rows(); ++i) {
      slope[i] = pass_.gradient(feature(i), first + i / s);
      limits[i] = feature(i) < kept_ ? penalty_.l1 : 0;
      weights[i] = target(feature(i), first + i / s);
    }
    minimize_sparse_model(h, limits, quiet_, slope, weights);
    for (Index i = 0; i < h.rows(); ++i) target(feature(i), first + i / s) = weights[i];
  }

  // Of the loss by its slope, term by term: near the optimum the terms cancel, and sums of them would be rounding.
  double promised_change(const Weights<double>& direction) const {
    double change = 0;
    for (Index j = 0; j < direction.rows(); ++j) {
      for (Index c = 0; c < direction.cols(); ++c) {
        const double w = weights_(j, c), d = direction(j, c), moved = w + d;
        const double growth = w * moved > 0 ? std::copysign(1, w) * d : std::abs(moved) - std::abs(w);
        change += pass_.gradient(j, c) * d + (j < kept_ ? penalty_.l1 * growth : 0);
      }
    }
    return change;
  }

  bool search(const Weights<double>& direction) {
    const double now = value(pass_);
    const double promised = promised_change(direction);
    if (!std::isfinite(promised)) return false;
    double rate = 1;
    for (int halving = 0; halving <= kMostHalves; ++halving, rate /= 2) {
      // Rounded first, so that what is measured and proven is true of the weights that are returned.
      const Weights<double> next = (weights_ + rate * direction).template cast<Scalar>().template cast<double>();
      FullPass pass = full_pass(problem_, next);
      const bool falls = promised < 0 && value(pass) < now && value(pass) <= now + kFallShare * rate * promised;
      // Near the optimum the loss is all rounding: there the conditions of an optimum decide.
      const bool flat = value(pass) <= now + kFlat * std::abs(now);
      if (!falls && !(flat && leftover(pass).norm() < leftover(pass_).norm() / 2)) {
        if (!(promised < 0)) return false;
        continue;
      }
      weights_ = next;
      pass_ = std::move(pass);
      rate_ = rate;
      return true;
    }
    return false;
  }

  const Problem<Scalar>& problem_;
  const Penalty& penalty_;
  CertifiedRun<Scalar> run_;
  Index kept_;    // the weights with a penalty come first
  double quiet_;  // a sweep that falls by less of the first ends: more than the gap asks for is not worth its time
  Weights<double> weights_;
  FullPass pass_;
  double rate_ = 1;
};

}  // namespace

template <class Scalar>
Outcome<Scalar> solve_coordinate(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                                 const Observer& observer) {
  return CoordinateDescent<Scalar>(problem, options, std::move(start), observer).run();
}

template Outcome<float> solve_coordinate(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve_coordinate(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

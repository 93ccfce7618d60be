#include "lipschitzlr/linear/lbfgs.hpp"

#include <cmath>
#include <numbers>

#include "linear/certificate.hpp"
#include "linear/certified_run.hpp"
#include "linear/hessian.hpp"
#include "linear/row_sample.hpp"
#include "linear/row_space.hpp"
#include "linear/two_loops.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr std::size_t kPairs = 10;
constexpr double kSufficient = 1e-4, kSteep = 0.9;  // Wolfe's conditions on the loss and on the slope
constexpr int kMostTrials = 40;
constexpr std::int64_t kManySteps = 50;  // after which coordinates other than the Hessian's are given up
constexpr Index kMostHessian = 500;      // features whose Hessian is worth its Cholesky factor
constexpr int kQuietPromises = 5;
constexpr std::int64_t kRenewal = 5;   // steps that a Hessian serves at least,
constexpr double kRenewalCost = 2;     // and as many as cost this many times what it does
constexpr double kPassMultiplies = 6;  // of X'DX in the time of one of a pass over dense rows, which waits for memory
constexpr double kFill = 1e-8;  // added to the unit diagonal of B: collinear columns must not stop its factorisation

// The share of a loss that is rounding: the kernels compute in Scalar and add up in double.
template <class Scalar>
constexpr double kLossRounding = 4 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());

// Until the Hessian is computed anew. X'DX of sparse rows is added up number by number, as slowly as a pass multiplies.
std::int64_t renewal_steps(const Shape& shape) {
  const auto rows = static_cast<double>(shape.rows), n = static_cast<double>(shape.features);
  const double products = shape.stored * shape.stored / (2 * rows) * (shape.sparse ? kPassMultiplies : 1);
  const double factor = 2 * n * n * n / 3;  // and its inverse, for the proof
  const double pass = 2 * std::max(1.0, shape.stored) * kPassMultiplies;
  return std::max(kRenewal, static_cast<std::int64_t>(std::min(kRenewalCost * (products + factor) / pass, 1e9)));
}

template <class Scalar>
class Lbfgs {
 public:
  Lbfgs(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start, const Observer& observer)
      : problem_(problem), options_(options), run_(problem, options, std::move(start), observer) {
    State<Scalar>& state = run_.state();
    const bool resumed = std::exchange(state.solver, kName) == kName;
    if (!resumed) {
      state.pairs.clear();
      state.first.resize(0, 0);
      state.second.resize(0, 0);
    }
    const Shape shape = shape_of(problem);
    renewal_ = renewal_steps(shape);
    coordinates_ = options.coordinates.value_or(choose_coordinates(shape));
    if (coordinates_ == Coordinates::sample && state.weights.cols() > 1) coordinates_ = Coordinates::matrix;
    penalty_diagonal_ = penalty_diagonal(problem.setup().penalty, problem.features());
    const bool from_zero = !resumed && state.weights.isZero(0);
    if (!options.coordinates && from_zero) {
      const double share = gap_share(options, problem.setup().family) / 10;
      state.weights = optimum_in_row_space(problem, share).value_or(std::move(state.weights));
    }
    if (coordinates_ == Coordinates::sample) sample_.emplace(problem);
    if (sample_ && from_zero) state.weights = sample_->optimum();
    now_.weights = state.weights.template cast<double>();
    evaluate(now_);
    if (sample_) take_sample(from_zero);
    if (state.first.size() > 0 && !renews()) take_hessian(full_pass(problem, state.first.template cast<double>()));
  }

  Outcome<Scalar> run() {
    while (true) {
      if (const std::optional<Stop> stop = measure()) return run_.end(*stop);
      if (!matrix_ && inverse_.size() == 0) prepare_coordinates();
      const Weights<double> direction = -improved(now_.gradient);
      const double slope = dot(direction, now_.gradient);
      if (promises_nothing(slope)) return stalled();
      if (!search(direction, slope)) {
        if (pairs().empty()) return stalled();
        pairs().clear();  // what they suggest is wrong, to rounding: once more from the constant alone
        continue;
      }
      ++run_.state().epoch;
      ++run_.state().step;
    }
  }

 private:
  struct Point {
    Weights<double> weights, gradient;
    double loss = 0;
  };

  // Rounds the weights first, so that what is measured and proven is true of the weights that are returned.
  void evaluate(Point& point) {
    rounded_ = point.weights.template cast<Scalar>();
    point.weights = rounded_.template cast<double>();
    point.loss = problem_.evaluate(rounded_, rounded_gradient_);
    point.gradient = rounded_gradient_.template cast<double>();
  }

  std::optional<Stop> measure() {
    run_.state().weights = now_.weights.template cast<Scalar>();
    double gap = duality_bound();
    if (renews()) gap = std::min(gap, curvature_bound());
    return run_.measure({now_.loss, now_.gradient.norm(), rate_, gap, separated()});
  }

  // It costs a pass or two over the rows: it is computed when the penalised weights alone would let it pass.
  double duality_bound() const {
    const Penalty& penalty = problem_.setup().penalty;
    if (penalty.empty() || !std::isfinite(now_.loss)) return kInfinity;
    const Index kept = now_.gradient.rows() - (penalty.spare_last ? 1 : 0);
    const double wanted = gap_share(options_, problem_.setup().family) * std::abs(now_.loss);
    const double largest = penalty_diagonal_.head(kept).maxCoeff();
    if (!(now_.gradient.topRows(kept).squaredNorm() / (2 * largest) <= wanted)) return kInfinity;
    return duality_gap(problem_, pass_here());
  }

  // Of a sample's Hessian only a few steps are as good as Newton's: then M is that of all rows, which proves more, too.
  bool renews() const {
    const bool pays = sample_ || (step() >= kManySteps && problem_.setup().family == Family::logistic &&
                                  problem_.features() <= kMostHessian);
    return pays && step() > 0 && step() % renewal_ == 0;
  }
  double curvature_bound() {
    const FullPass pass = pass_here();
    take_hessian(pass);
    return curvature_gap(problem_, pass, *matrix_);
  }

  // A mean below ln(2)/m leaves no row a loss of ln 2, which a row that is not classified right has at least. With
  // weights only the end of the run looks for it.
  bool separated() const {
    return problem_.setup().family != Family::linear && problem_.row_weights().size() == 0 &&
           now_.loss * problem_.total_weight() < std::numbers::ln2;
  }

  bool promises_nothing(double slope) {
    if (!problem_.setup().penalty.empty() || pairs().empty()) return false;
    int& quiet = run_.state().quiet;
    const double share = gap_share(options_, problem_.setup().family) / 10;
    quiet = -slope / 2 <= share * std::abs(now_.loss) ? quiet + 1 : 0;
    return quiet > kQuietPromises;
  }

  Outcome<Scalar> stalled() {
    if (!problem_.setup().penalty.empty()) {
      run_.outcome().certified_gap = duality_gap(problem_, pass_here());
    } else if (pass_here().separated) {
      return run_.end(Stop::separable);
    }
    return run_.end(Stop::relative_tolerance);
  }

  // Finds a step that fulfils the conditions; near the optimum, where the loss is all rounding, by the slopes alone.
  bool search(const Weights<double>& direction, double slope) {
    if (!std::isfinite(slope) || !(slope < 0)) return false;
    double low = 0, high = kInfinity, rate = 1;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      next_.weights = now_.weights + rate * direction;
      evaluate(next_);
      const double new_slope = dot(direction, next_.gradient);
      const bool falls = next_.loss <= now_.loss + kSufficient * rate * slope;
      const bool flat = next_.loss <= now_.loss + kLossRounding<Scalar> * std::abs(now_.loss) &&
                        new_slope <= (2 * kSufficient - 1) * slope;
      if (!falls && !flat) {
        high = rate;
      } else if (new_slope < kSteep * slope) {
        low = rate;
      } else {
        rate_ = rate;
        return accept();
      }
      rate = std::isfinite(high) ? (low + high) / 2 : 2 * rate;
    }
    return false;
  }

  // False when the weights did not move: rounding is all that is left.
  bool accept() {
    Weights<double> s = next_.weights - now_.weights, y = next_.gradient - now_.gradient;
    if (s.isZero(0)) return false;
    if (dot(s, y) > 0) {
      if (pairs().size() == 2 * kPairs) pairs().erase(pairs().begin(), pairs().begin() + 2);
      pairs().push_back(std::move(s));
      pairs().push_back(std::move(y));
    }
    std::swap(now_, next_);
    return true;
  }

  // Hg
  Weights<double> improved(const Weights<double>& g) const {
    return two_loops(run_.state().pairs, g, [&](const Weights<double>& v) { return in_coordinates(v); });
  }

  FullPass pass_here() const {
    if constexpr (std::is_same_v<Scalar, double>) {
      return with_probabilities(problem_, now_.weights, now_.loss, now_.gradient);
    } else {
      return full_pass(problem_, now_.weights);
    }
  }

  // From now on M is the Hessian of all rows at the pass' weights.
  void take_hessian(const FullPass& pass) {
    matrix_ = hessian_at(problem_, pass);
    run_.state().first = pass.weights.template cast<Scalar>();
    run_.outcome().condition = matrix_->condition();
  }

  // M^-1 g
  Weights<double> in_coordinates(const Weights<double>& g) const {
    if (!matrix_) return inverse_.asDiagonal() * g;
    return matrix_->step(g);
  }

  // The Hessian of the sample, at its optimum where that is better than zero, from where the run then starts.
  void take_sample(bool from_zero) {
    State<Scalar>& state = run_.state();
    const bool logistic = problem_.setup().family == Family::logistic;
    if (from_zero && !(now_.loss < (logistic ? std::numbers::ln2 : loss_at_zero()))) {
      state.weights.setZero();
      now_.weights.setZero();
      evaluate(now_);
    }
    if (state.second.size() == 0) state.second = state.weights;
    if (state.first.size() == 0) matrix_ = sample_->hessian(state.second.template cast<double>());
  }

  double loss_at_zero() {
    next_.weights = problem_.zero_weights().template cast<double>();
    evaluate(next_);
    return next_.loss;
  }

  // Only when the first step is made: the start may be proven to be good enough.
  void prepare_coordinates() {
    const double factor = largest_curvature(problem_.setup().family) / problem_.total_weight();
    if (coordinates_ == Coordinates::matrix) {
      Eigen::MatrixXd b = std::visit(
          [&](const auto& matrix) {
            return gram(matrix, problem_.row_weights(), problem_.pool(), problem_.communicator());
          },
          problem_.matrix());
      b *= factor;
      add_curvature(problem_.setup().penalty, b);
      b.diagonal() *= 1 + kFill;
      matrix_.emplace(std::move(b), &problem_.pool());
      return;
    }
    Vector<double> diagonal = factor * column_squares(problem_) + penalty_diagonal_;
    if (coordinates_ == Coordinates::plain) diagonal.setConstant(diagonal.maxCoeff());
    inverse_ = diagonal.unaryExpr([](double entry) { return entry > 0 ? 1 / entry : 0; });
  }

  std::int64_t step() const { return run_.state().step; }
  std::vector<Weights<double>>& pairs() { return run_.state().pairs; }

  static constexpr const char* kName = "lbfgs";
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Problem<Scalar>& problem_;
  const SolverOptions& options_;
  mutable CertifiedRun<Scalar> run_;
  Coordinates coordinates_;
  std::int64_t renewal_;
  Point now_, next_;
  Weights<Scalar> rounded_, rounded_gradient_;
  Vector<double> penalty_diagonal_, inverse_;
  std::optional<bound::CurvatureMatrix> matrix_;
  std::optional<RowSample<Scalar>> sample_;
  double rate_ = 1;
};

}  // namespace

template <class Scalar>
Outcome<Scalar> solve_lbfgs(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                            const Observer& observer) {
  return Lbfgs<Scalar>(problem, options, std::move(start), observer).run();
}

template Outcome<float> solve_lbfgs(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve_lbfgs(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

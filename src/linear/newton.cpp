#include "lipschitzlr/linear/newton.hpp"

#include <cmath>

#include "linear/certificate.hpp"
#include "linear/certified_run.hpp"
#include "linear/hessian.hpp"
#include "linear/least_squares_sums.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kArmijo = 1e-4;
constexpr int kMostHalvings = 12;

template <class Scalar>
class Newton {
 public:
  Newton(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start, const Observer& observer)
      : problem_(problem),
        run_(problem, options, std::move(start), observer),
        basis_(output_basis(problem.setup().classes)),
        share_(gap_share(options, problem.setup().family)) {
    State<Scalar>& state = run_.state();
    weights_ = state.weights.template cast<double>();
    // The penalty is least, and the loss the same, without the part that all outputs share. Weights of an earlier run
    // have none but rounding, and taking that away would change the bits of its continuation.
    if (std::exchange(state.solver, kName) != kName && weights_.cols() > 1) {
      weights_.colwise() -= weights_.rowwise().mean().eval();
      weights_ = weights_.template cast<Scalar>().template cast<double>().eval();
    }
  }

  Outcome<Scalar> run() {
    if (problem_.setup().family == Family::linear && weights_.isZero(0)) {
      sums_.emplace(problem_);
      pass_ = sums_->pass_at_zero();
    } else {
      pass_ = full_pass(problem_, weights_);
    }
    return run_.loop(*this);
  }

 private:
  friend class CertifiedRun<Scalar>;

  std::optional<Stop> measure() {
    run_.state().weights = weights_.template cast<Scalar>();
    if (!std::isfinite(pass_.loss)) return run_.measure({pass_.loss, pass_.gradient.norm(), rate_, kInfinity});
    const bool exact = problem_.setup().family == Family::linear;
    if (!exact) hessian_.reset();
    if (!pass_.gap) pass_.gap = curvature_gap(problem_, pass_, hessian());
    if (!exact) pass_.gap = std::min(*pass_.gap, duality_gap(problem_, pass_));
    return run_.measure({pass_.loss, pass_.gradient.norm(), rate_, *pass_.gap, pass_.separated});
  }

  // At the weights of the pass; of least squares the same everywhere.
  const bound::CurvatureMatrix& hessian() {
    if (!sums_ && !hessian_) hessian_.emplace(hessian_at(problem_, pass_));
    const bound::CurvatureMatrix& matrix = sums_ ? sums_->hessian() : *hessian_;
    run_.outcome().condition = matrix.condition();
    return matrix;
  }

  // Least squares needs no other pass over the rows than that for the sums, unless rounding might show.
  FullPass pass_at(const Weights<double>& weights) const {
    std::optional<FullPass> pass;
    if (sums_) pass = sums_->pass_at(weights, share_);
    return pass ? std::move(*pass) : full_pass(problem_, weights);
  }

  // False when no step lowers the loss any more: rounding is all that is left.
  bool step() {
    const Weights<double> direction = expanded(hessian().step(reduced(pass_.gradient, basis_)), basis_);
    if (search(direction, kMostHalvings)) return true;
    if (problem_.setup().family == Family::linear) return false;
    if (!bound_) bound_.emplace(constant_curvature(problem_, largest_curvature(problem_.setup().family)));
    return search(bound_->step(pass_.gradient), 0);
  }

  bool search(const Weights<double>& direction, int halvings) {
    const double slope = direction.cwiseProduct(pass_.gradient).sum();
    if (!std::isfinite(slope) || !(slope > 0)) return false;
    double rate = 1;
    for (int halving = 0; halving <= halvings; ++halving, rate /= 2) {
      // Rounded first, so that what is measured and proven is true of the weights that are returned.
      const Weights<double> next = (weights_ - rate * direction).template cast<Scalar>().template cast<double>();
      FullPass pass = pass_at(next);
      if (!(pass.loss <= pass_.loss - kArmijo * rate * slope) || !(pass.loss < pass_.loss)) continue;
      weights_ = next;
      pass_ = std::move(pass);
      rate_ = rate;
      return true;
    }
    return false;
  }

  static constexpr const char* kName = "newton";
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Problem<Scalar>& problem_;
  CertifiedRun<Scalar> run_;
  Eigen::MatrixXd basis_;
  double share_;  // of the loss, to be proven
  Weights<double> weights_;
  FullPass pass_;
  std::optional<LeastSquaresSums> sums_;  // of a run that begins at zero
  std::optional<bound::CurvatureMatrix> hessian_, bound_;
  double rate_ = 1;
};

}  // namespace

template <class Scalar>
Outcome<Scalar> solve_newton(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                             const Observer& observer) {
  return Newton<Scalar>(problem, options, std::move(start), observer).run();
}

template Outcome<float> solve_newton(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve_newton(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

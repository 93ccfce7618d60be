#include "lipschitzlr/linear/newton.hpp"

#include <cmath>

#include "linear/certificate.hpp"
#include "linear/certified_run.hpp"
#include "lipschitzlr/linear/gram.hpp"

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
        basis_(output_basis(problem.setup().classes)) {
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
    pass_ = full_pass(problem_, weights_);
    return run_.loop(*this);
  }

 private:
  friend class CertifiedRun<Scalar>;

  std::optional<Stop> measure() {
    run_.state().weights = weights_.template cast<Scalar>();
    if (!std::isfinite(pass_.loss)) return run_.measure({pass_.loss, pass_.gradient.norm(), rate_, kInfinity});
    const bool exact = problem_.setup().family == Family::linear;
    if (!hessian_ || !exact) hessian_.emplace(hessian());
    run_.outcome().condition = hessian_->condition();
    const double gap =
        std::min(curvature_gap(problem_, pass_, *hessian_), exact ? kInfinity : duality_gap(problem_, pass_));
    return run_.measure({pass_.loss, pass_.gradient.norm(), rate_, gap, pass_.separated});
  }

  // False when no step lowers the loss any more: rounding is all that is left.
  bool step() {
    const Weights<double> direction = expanded(hessian_->step(reduced(pass_.gradient, basis_)), basis_);
    if (search(direction, kMostHalvings)) return true;
    if (problem_.setup().family == Family::linear) return false;
    if (!bound_) bound_.emplace(curvature(largest_curvature(problem_.setup().family)));
    return search(bound_->step(pass_.gradient), 0);
  }

  bool search(const Weights<double>& direction, int halvings) {
    const double slope = direction.cwiseProduct(pass_.gradient).sum();
    if (!std::isfinite(slope) || !(slope > 0)) return false;
    double rate = 1;
    for (int halving = 0; halving <= halvings; ++halving, rate /= 2) {
      // Rounded first, so that what is measured and proven is true of the weights that are returned.
      const Weights<double> next = (weights_ - rate * direction).template cast<Scalar>().template cast<double>();
      FullPass pass = full_pass(problem_, next);
      if (!(pass.loss <= pass_.loss - kArmijo * rate * slope) || !(pass.loss < pass_.loss)) continue;
      weights_ = next;
      pass_ = std::move(pass);
      rate_ = rate;
      return true;
    }
    return false;
  }

  // X'DX / m with every row times its weight; empty: D = I.
  Eigen::MatrixXd gram_of(const Vector<double>& d) const {
    const Vector<double>& weights = problem_.row_weights();
    const Vector<double> weighed = weights.size() == 0 ? d : d.size() == 0 ? weights : weights.cwiseProduct(d).eval();
    return std::visit(
               [&](const auto& matrix) { return gram(matrix, weighed, problem_.pool(), problem_.communicator()); },
               problem_.matrix()) /
           problem_.total_weight();
  }

  bound::CurvatureMatrix curvature(double factor) const {
    return bound::CurvatureMatrix(factor * gram_of({}) + penalty_curvature(problem_.setup().penalty, features()));
  }

  // In the coordinates of the basis, block by block: U'(diag(p) - pp')U is the curvature of a row's loss.
  bound::CurvatureMatrix hessian() const {
    if (problem_.setup().family == Family::linear) return curvature(1);
    const Index n = features(), outputs = basis_.cols();
    const auto p = pass_.probabilities.array();
    Eigen::MatrixXd matrix(n * outputs, n * outputs);
    const DenseMatrix<double> means =
        outputs == 1 && basis_.rows() == 1 ? DenseMatrix<double>() : DenseMatrix<double>(pass_.probabilities * basis_);
    for (Index a = 0; a < outputs; ++a) {
      for (Index b = 0; b <= a; ++b) {
        const Vector<double> d = means.size() == 0 && basis_.rows() == 1
                                     ? Vector<double>(p.col(0) * (1 - p.col(0)))
                                     : Vector<double>(pass_.probabilities * basis_.col(a).cwiseProduct(basis_.col(b)) -
                                                      means.col(a).cwiseProduct(means.col(b)));
        const Eigen::MatrixXd block = gram_of(d);
        matrix.block(a * n, b * n, n, n) = block;
        matrix.block(b * n, a * n, n, n) = block;
      }
      matrix.block(a * n, a * n, n, n) += penalty_curvature(problem_.setup().penalty, n);
      // Rounding may leave a diagonal of almost zero below it.
      auto diagonal = matrix.diagonal().segment(a * n, n);
      diagonal = diagonal.cwiseMax(0).eval();
    }
    return bound::CurvatureMatrix(std::move(matrix));
  }

  Index features() const { return problem_.features(); }

  static constexpr const char* kName = "newton";
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Problem<Scalar>& problem_;
  CertifiedRun<Scalar> run_;
  Eigen::MatrixXd basis_;
  Weights<double> weights_;
  FullPass pass_;
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

#include "lipschitzlr/linear/fista.hpp"

#include <cmath>
#include <limits>

#include "linear/certificate.hpp"
#include "linear/certified_run.hpp"
#include "linear/sparse_penalty.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr double kFlatLoss = 8 * std::numeric_limits<double>::epsilon();

template <class Scalar>
class Fista {
 public:
  Fista(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start, const Observer& observer)
      : problem_(problem),
        run_(problem, options, std::move(start), observer),
        rate_(1 / problem.constant(ConstantKind::gradient).value) {
    State<Scalar>& state = run_.state();
    state.solver = to_string(Solver::fista);
    if (state.first.size() == 0) state.first = state.weights;
  }

  Outcome<Scalar> run() {
    pass_ = full_pass(problem_, run_.state().weights.template cast<double>());
    return run_.loop(*this);
  }

 private:
  friend class CertifiedRun<Scalar>;

  std::optional<Stop> measure() {
    return run_.measure({sparse_loss(problem_, pass_), left(pass_), rate_, gap(), pass_.separated});
  }

  double gap() const {
    if (!std::isfinite(pass_.loss)) return std::numeric_limits<double>::infinity();
    return problem_.setup().penalty.l1 > 0 ? sparse_duality_gap(problem_, pass_) : duality_gap(problem_, pass_);
  }

  // False when a step without momentum makes nothing better any more.
  bool step() {
    State<Scalar>& state = run_.state();
    const double momentum = (1 + std::sqrt(1 + 4 * state.momentum * state.momentum)) / 2;
    const double push = (state.momentum - 1) / momentum;
    const Weights<double>& w = pass_.weights;
    const FullPass ahead =
        push > 0 ? full_pass(problem_, Weights<double>(w + push * (w - state.first.template cast<double>()))) : pass_;
    // Rounded first, so that what is measured and proven is true of the weights that are returned.
    const Weights<Scalar> next = proximal(ahead).template cast<Scalar>();
    FullPass pass = full_pass(problem_, next.template cast<double>());
    const double before = sparse_loss(problem_, pass_), after = sparse_loss(problem_, pass);
    // Near the optimum the loss is all rounding: there the conditions of an optimum decide.
    const bool flat = after <= before + kFlatLoss * std::abs(before);
    const bool better = after < before || (flat && left(pass) < left(pass_));
    if (!better && !(push > 0)) return false;
    if (better || flat) {
      // The momentum points the wrong way once the steps turn back.
      const bool back = (ahead.weights - pass.weights).cwiseProduct(pass.weights - pass_.weights).sum() > 0;
      state.first = std::exchange(state.weights, next);
      state.momentum = back ? 1 : momentum;
      pass_ = std::move(pass);
    } else {
      state.momentum = 1;
    }
    return true;
  }

  double left(const FullPass& pass) const { return leftover_gradient(problem_, pass).norm(); }

  Weights<double> proximal(const FullPass& pass) const {
    Weights<double> next = pass.weights - rate_ * pass.gradient;
    const double by = rate_ * problem_.setup().penalty.l1;
    for (double& weight : next.topRows(penalized_features(problem_)).reshaped()) weight = shrunk(weight, by);
    return next;
  }

  const Problem<Scalar>& problem_;
  CertifiedRun<Scalar> run_;
  double rate_;
  FullPass pass_;
};

}  // namespace

template <class Scalar>
Outcome<Scalar> solve_fista(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                            const Observer& observer) {
  return Fista<Scalar>(problem, options, std::move(start), observer).run();
}

template Outcome<float> solve_fista(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve_fista(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

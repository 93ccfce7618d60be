#include "linear/rate_solver.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "linear/certified_run.hpp"
#include "linear/stepper.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/bound/descent.hpp"
#include "lipschitzlr/rate/registry.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr int kQuietMeasurements = 5;

// The share of a loss that is rounding, not progress: near the optimum the loss fluctuates by it.
template <class Scalar>
constexpr double kRounding = std::is_same_v<Scalar, float> ? 1e-6 : 1e-12;

std::string rule_name(Solver solver) {
  return solver == Solver::gd || solver == Solver::accelerated ? "sgd" : to_string(solver);
}

rate::RuleOptions rule_options(const SolverOptions& options) {
  rate::RuleOptions rule = options.rule;
  const bool per_epoch = options.recompute == Recompute::epoch;
  rule.update = per_epoch ? rate::Update::per_epoch : rate::Update::per_iteration;
  if (per_epoch && options.solver == Solver::adamo && !rule.first_rate) rule.first_rate = 0.1;
  return rule;
}

// A norm whose squares may overflow: in double for float, scaled when even double overflows.
template <class Scalar>
double norm_of(const Weights<Scalar>& weights) {
  const double norm = weights.template cast<double>().norm();
  return std::isfinite(norm) ? norm : weights.template cast<double>().stableNorm();
}

template <class Scalar>
class RateSolver {
 public:
  RateSolver(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
             const Observer& observer);
  Outcome<Scalar> run();

 private:
  std::optional<Stop> measure();
  std::optional<Stop> stop_reason() const;
  void measure_held_out(Progress& now);
  void keep_best();
  void check_promises(double gradient_norm);
  void run_epoch();
  void mini_batches();
  void observe(const Measured& measured, double weight_norm);
  double next_rate(std::span<const Index> rows);
  bool full_batch() const { return options_.batch == 0 || options_.batch >= problem_.rows(); }
  bool computed() const { return !options_.rate.has_value(); }
  // In a recomputed formula K is the current norm; in least squares it bounds where w may go, and does not change.
  double weight_bound(double weight_norm) const {
    return problem_.setup().family == Family::linear ? problem_.setup().weight_bound : weight_norm;
  }

  const Problem<Scalar>& problem_;
  const SolverOptions& options_;
  StopMonitor monitor_;
  Outcome<Scalar> outcome_;
  State<Scalar>& state_ = outcome_.state;
  Stepper<Scalar> stepper_;
  std::unique_ptr<rate::Rule> rule_;
  Random random_;
  Measured all_rows_;     // the constant over all rows, at the start
  double floor_ = 0;      // changes of the loss below it are rounding
  double claim_ = 0;      // the constant in use
  double epoch_max_ = 0;  // recompute per epoch: the largest so far
  Measured epoch_measured_;
  Progress before_;  // the measurement before the last
  Weights<Scalar> gradient_, finite_weights_;
  std::vector<Index> order_;
};

template <class Scalar>
RateSolver<Scalar>::RateSolver(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                               const Observer& observer)
    : problem_(problem),
      options_(options),
      monitor_(observer, options.seconds, problem.communicator()),
      stepper_(options.solver, options.rule),
      random_(options.seed) {
  state_ = std::move(start);
  state_.solver = to_string(options.solver);
  if (!state_.random.empty()) random_.load(state_.random);
  const Weights<Scalar> zero = problem_.zero_weights();
  if (state_.weights.size() == 0) state_.weights = zero;
  check_fits(state_, zero.rows(), zero.cols());
  floor_ = rounding_floor(problem_);
  if (!computed()) return;
  rule_ = rate::make_rule(rule_name(options_.solver), rule_options(options_));
  all_rows_ = problem_.measure(options_.constant, problem_.setup().weight_bound);
  claim_ = all_rows_.constant.value;
  if (!state_.rule.empty()) {
    rule_->load(state_.rule);
  } else if (options_.recompute == Recompute::epoch && !rule_->has_rate()) {
    observe(all_rows_, norm_of(state_.weights));
  }
}

template <class Scalar>
Outcome<Scalar> RateSolver<Scalar>::run() {
  std::optional<Stop> stop;
  while (!(stop = measure())) {
    try {
      run_epoch();
    } catch (const Error& error) {
      // A rule refuses constants that are not finite: when the weights are the reason, the run has diverged.
      if (error.fault() != Fault::training || std::isfinite(norm_of(state_.weights))) throw;
      ++outcome_.checks.not_finite;
      stop = Stop::not_finite;
      break;
    }
    ++state_.epoch;
  }
  outcome_.stop = *stop;
  state_.weights = finite_weights_;
  keep_best();
  if (rule_) state_.rule = rule_->save();
  state_.random = random_.save();
  return std::move(outcome_);
}

template <class Scalar>
std::optional<Stop> RateSolver<Scalar>::measure() {
  Progress now = outcome_.last;
  now.epoch = state_.epoch;
  now.step = state_.step;
  now.loss = problem_.evaluate(state_.weights, gradient_);
  now.gradient_norm = norm_of(gradient_);
  now.weight_norm = norm_of(state_.weights);
  RunChecks& checks = outcome_.checks;
  ++checks.measurements;
  if (!std::isfinite(now.loss) || !std::isfinite(now.gradient_norm)) {
    ++checks.not_finite;
    if (finite_weights_.size() == 0) {
      throw Error(
          Fault::training,
          "at the starting weights the loss or its gradient is no finite number: divide the target, or take another "
          "scaling or a smaller penalty; nothing was trained");
    }
    return Stop::not_finite;
  }
  const bool first = checks.measurements == 1;
  if (options_.patience > 0) measure_held_out(now);
  before_ = std::exchange(outcome_.last, now);
  finite_weights_ = state_.weights;
  if (full_batch() || options_.recompute == Recompute::never) check_promises(now.gradient_norm);
  if (!first) {
    if (now.loss - before_.loss > std::max(floor_, kRounding<Scalar> * std::abs(before_.loss))) {
      ++checks.rises;
      stepper_.restart(state_);
    }
    const bool quiet =
        std::abs(before_.loss - now.loss) <= std::max(floor_, options_.relative_tolerance * std::abs(now.loss));
    state_.quiet = quiet ? state_.quiet + 1 : 0;
  }
  monitor_.show(outcome_.last);
  if (monitor_.interrupted()) return Stop::interrupted;
  return stop_reason();
}

// A resumed run measures the weights that it starts with again: the loss is no lower than the best then.
template <class Scalar>
void RateSolver<Scalar>::measure_held_out(Progress& now) {
  now.held_out_loss = options_.held_out(state_.weights.template cast<double>());
  if (state_.best.size() > 0 && !(*now.held_out_loss < state_.best_loss)) return;
  state_.best = state_.weights;
  state_.best_loss = *now.held_out_loss;
  state_.best_epoch = state_.epoch;
}

// With early stopping the last measurement is that of the weights that are kept.
template <class Scalar>
void RateSolver<Scalar>::keep_best() {
  if (state_.best.size() == 0) return;
  Progress& last = outcome_.last;
  last.loss = problem_.evaluate(state_.best, gradient_);
  last.gradient_norm = norm_of(gradient_);
  last.weight_norm = norm_of(state_.best);
  last.held_out_loss = state_.best_loss;
}

template <class Scalar>
std::optional<Stop> RateSolver<Scalar>::stop_reason() const {
  const Progress& now = outcome_.last;
  if (now.loss < options_.loss_threshold) return Stop::loss_threshold;
  if (now.gradient_norm <= options_.gradient_tolerance) return Stop::gradient_tolerance;
  if (options_.patience > 0 && now.epoch - state_.best_epoch >= options_.patience) return Stop::patience;
  if (options_.relative_tolerance > 0 && state_.quiet >= kQuietMeasurements) return Stop::relative_tolerance;
  if (now.epoch >= options_.epochs) return Stop::epochs;
  if (monitor_.late()) return Stop::seconds;
  return std::nullopt;
}

// Compares the gradient just measured with the constant behind the current rate.
template <class Scalar>
void RateSolver<Scalar>::check_promises(double gradient_norm) {
  if (!computed()) return;
  RunChecks& checks = outcome_.checks;
  if (options_.constant == ConstantKind::gradient) {
    const bool plain =
        options_.solver == Solver::gd && full_batch() && options_.rule.decay == 0 && !options_.rule.first_rate;
    if (!plain || checks.measurements == 1) return;
    ++checks.descent_promised;
    const double promised = bound::promised_descent(before_.gradient_norm, claim_);
    if (!bound::descent_holds(before_.loss, outcome_.last.loss, promised, kRounding<Scalar>)) ++checks.descent_missed;
    return;
  }
  checks.claimed_bound = std::max(checks.claimed_bound, claim_);
  checks.largest_gradient = std::max(checks.largest_gradient, gradient_norm);
  if (gradient_norm > claim_) ++checks.bound_exceeded;
}

template <class Scalar>
void RateSolver<Scalar>::run_epoch() {
  epoch_max_ = 0;
  if (full_batch()) {
    outcome_.last.rate = next_rate({});
    stepper_.step(state_, gradient_, outcome_.last.rate);
  } else {
    mini_batches();
  }
  if (!rule_) return;
  if (options_.recompute == Recompute::epoch) observe(epoch_measured_, outcome_.last.weight_norm);
  rule_->end_epoch();
}

template <class Scalar>
void RateSolver<Scalar>::mini_batches() {
  order_.resize(static_cast<std::size_t>(problem_.rows()));
  std::iota(order_.begin(), order_.end(), Index{0});
  random_.shuffle(std::span(order_));
  const auto size = static_cast<std::size_t>(options_.batch);
  double loss = 0;
  for (std::size_t begin = 0; begin < order_.size(); begin += size) {
    const std::span<const Index> rows = std::span(order_).subspan(begin, std::min(size, order_.size() - begin));
    loss += problem_.evaluate(state_.weights, gradient_, rows) * static_cast<double>(rows.size());
    outcome_.last.rate = next_rate(rows);
    if (options_.recompute != Recompute::never) check_promises(norm_of(gradient_));
    stepper_.step(state_, gradient_, outcome_.last.rate);
  }
  outcome_.last.batch_loss = loss / static_cast<double>(order_.size());
}

// Passes the measurement of this step to the rule and reads the rate. No rows: all of them.
template <class Scalar>
double RateSolver<Scalar>::next_rate(std::span<const Index> rows) {
  const auto step = static_cast<std::uint64_t>(state_.step);
  if (!computed()) return *options_.rate / (1 + options_.rule.decay * static_cast<double>(step));
  if (options_.recompute == Recompute::never) {
    observe(all_rows_, outcome_.last.weight_norm);
    return rule_->rate_at(step);
  }
  const double weight_norm = norm_of(state_.weights);
  const double bound = weight_bound(weight_norm);
  const Measured measured =
      rows.empty() ? problem_.measure(options_.constant, bound) : problem_.measure(options_.constant, bound, rows);
  if (options_.recompute == Recompute::batch) {
    observe(measured, weight_norm);
  } else if (measured.constant.value > epoch_max_) {
    epoch_max_ = measured.constant.value;
    epoch_measured_ = measured;
  }
  return rule_->rate_at(step);
}

template <class Scalar>
void RateSolver<Scalar>::observe(const Measured& measured, double weight_norm) {
  rate::Measurement fed;
  fed.gradient_bound = measured.constant.value;
  fed.penultimate_norm = measured.features.frobenius;
  const double share = measured.features.frobenius > 0 ? measured.data_part / measured.features.frobenius : 0;
  fed.second_moment =
      rate::second_moment(options_.second_moment, share, measured.features, problem_.setup().penalty.l2, weight_norm);
  rule_->observe(fed);
  claim_ = measured.constant.value;
}

}  // namespace

template <class Scalar>
Outcome<Scalar> solve_by_rate(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                              const Observer& observer) {
  return RateSolver<Scalar>(problem, options, std::move(start), observer).run();
}

template Outcome<float> solve_by_rate(const Problem<float>&, const SolverOptions&, State<float>, const Observer&);
template Outcome<double> solve_by_rate(const Problem<double>&, const SolverOptions&, State<double>, const Observer&);

}  // namespace lipschitzlr::linear

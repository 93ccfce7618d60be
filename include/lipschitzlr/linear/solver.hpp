#pragma once
// Training of a linear model: solve() with the solver that the problem's shape asks for (choose.hpp), or one by name.
// newton and lbfgs (newton.hpp, lbfgs.hpp) need no rate and stop when they have proven how near the optimum they are.
// coordinate and fista (coordinate.hpp, fista.hpp) do so with an L1 penalty too. The others take a computed rate. An
// epoch measures loss and gradient over all rows once, then steps: with that
// gradient (full batch), or once per mini-batch of a fresh shuffle. The rate rules are rate/'s; the updates are
//   gd, sgd      w <- w - rate g
//   accelerated  w <- y - rate g(y), y <- w + (t-1)/t' (w - w_before), t' = (1 + sqrt(1 + 4 t^2))/2; restarts on a rise
//   adamo        V <- beta V + (1-beta) g, w <- w - rate V                                    (paper, Algorithm 1)
//   rmsprop      v <- beta v + (1-beta) g^2, w <- w - rate g/(sqrt(v) + epsilon)              (Algorithm 2)
//   auto-adam    m, v as in Adam, w <- w - rate m/(sqrt(v) + epsilon)                         (Algorithm 3)

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "lipschitzlr/linear/choose.hpp"
#include "lipschitzlr/linear/problem.hpp"
#include "lipschitzlr/linear/state.hpp"
#include "lipschitzlr/rate/rule.hpp"
#include "lipschitzlr/rate/second_moment.hpp"

namespace lipschitzlr::linear {

// When the constant behind the rate is measured again. never: over all rows, once. epoch: over each mini-batch, the
// largest of an epoch feeding the rule once (how the paper's tables were made; until then the constant over all rows
// serves, and for adamo the rate rule.first_rate, 0.1 when not given). batch: of each step's rows.
enum class Recompute { never, epoch, batch };
std::string to_string(Recompute recompute);

struct SolverOptions {
  Solver solver = Solver::automatic;
  std::optional<Coordinates> coordinates = {};  // of lbfgs; by default by the shape
  // For the solvers with a rate: see takes_rate().
  std::optional<double> rate = {};                 // a number; without it the rate is computed from:
  ConstantKind constant = ConstantKind::gradient;  // ... this constant
  Recompute recompute = Recompute::never;
  rate::RuleOptions rule = {};
  rate::SecondMoment second_moment = rate::SecondMoment::without_weight_square;
  Index batch = 0;  // rows per step; 0: all
  std::uint64_t seed = 1;

  // Stops: whichever comes first.
  std::int64_t epochs = 1000;
  double loss_threshold = -std::numeric_limits<double>::infinity();  // stop when the loss is below
  double gradient_tolerance = 0;                                     // stop when the gradient's norm is at most this
  double gap_tolerance = 0;       // newton, lbfgs: stop when f(w) - f* is proven to be at most this share of f(w); 0:
                                  // 1e-6, and 1e-8 for least squares
  double relative_tolerance = 0;  // stop when the loss changed by at most this share of itself, five times in a row
  double seconds = std::numeric_limits<double>::infinity();
  // Early stopping, for the solvers with a rate: held_out is the loss of rows that are not trained on (held_rows.hpp),
  // asked after every epoch; the same in every process. The weights with the lowest are kept (Outcome::weights).
  std::int64_t patience = 0;  // stop when it has not fallen for so many epochs; 0: never
  std::function<double(const Weights<double>&)> held_out = {};
};

enum class Stop {
  loss_threshold,
  gradient_tolerance,
  relative_tolerance,
  epochs,
  seconds,
  interrupted,
  not_finite,
  certified,
  separable,
  patience
};
std::string to_string(Stop stop);  // "the loss fell below the threshold", ...

struct Progress {
  std::int64_t epoch = 0;  // epochs finished
  std::int64_t step = 0;   // updates made
  double loss = 0;
  double batch_loss = 0;  // mean over the mini-batches of the last epoch, each before its step; 0: there were none
  double gradient_norm = 0;
  double weight_norm = 0;
  double rate = 0;                           // of the last update; before the first, of the one to come
  std::optional<double> held_out_loss = {};  // with early stopping
  double seconds = 0;
};

// Called after every measurement of the loss over all rows; false interrupts the run.
using Observer = std::function<bool(const Progress&)>;

// What happened, compared with what the theory promises.
struct RunChecks {
  std::int64_t measurements = 0;
  std::int64_t rises = 0;             // measurements whose loss was above the one before, by more than rounding
  double claimed_bound = 0;           // the largest loss constant in use; 0 when the rate claims no bound on gradients
  double largest_gradient = 0;        // the largest gradient norm measured where the claim holds
  std::int64_t bound_exceeded = 0;    // how often a measured gradient was above the constant then in use
  std::int64_t descent_promised = 0;  // gd with 1/beta: steps whose fall was compared with the promise
  std::int64_t descent_missed = 0;    // gd with 1/beta: steps that fell by less than ||g||^2 / 2 beta
  std::int64_t not_finite = 0;
};

template <class Scalar>
struct Outcome {
  State<Scalar> state;  // its weights are the last whose loss was measured and finite
  Progress last;        // of weights(), after all epochs and steps
  Stop stop = Stop::epochs;
  RunChecks checks;
  double certified_gap = std::numeric_limits<double>::infinity();  // f(w) - f* is at most this: certificate.hpp
  Choice choice;                                                   // the solver that ran, and why
  std::string verdict;  // "within 3.1e-07 of the optimum (certified)", or why that can't be said
  double condition = std::numeric_limits<double>::quiet_NaN();  // newton: of the Hessian with a unit diagonal

  // What was found: with early stopping the weights of the lowest held-out loss, otherwise the last.
  const Weights<Scalar>& weights() const { return state.best.size() > 0 ? state.best : state.weights; }
};

// The verdict on a loss that is proven to be at most gap above the least one. at_optimum: no solver would come nearer.
std::string certified_verdict(double gap, double loss, bool at_optimum);
// Of the loss; a gap of 0 is no share of any.
double certified_share(double gap, double loss);

// start: zero_weights() and the like, or the state of an earlier outcome, which continues bit for bit when the options
// are the same. Throws Error (usage) when options do not fit
// one another, Error (data) when the state does not fit the problem, Error (training) when the loss of the first
// weights is not finite.
template <class Scalar>
Outcome<Scalar> solve(const Problem<Scalar>& problem, const SolverOptions& options, State<Scalar> start,
                      const Observer& observer = {});

}  // namespace lipschitzlr::linear

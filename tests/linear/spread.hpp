#pragma once
// Trainings whose numbers must be the same however many processes share the rows: each case makes its problem, of this
// process' rows when there is a communicator, and returns every number that came out.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "linear/problems.hpp"
#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/linear/advice.hpp"
#include "lipschitzlr/linear/lbfgs.hpp"
#include "lipschitzlr/linear/solver.hpp"

namespace lipschitzlr::linear {

using Numbers = std::vector<double>;

struct SpreadCase {
  std::string name;
  double tolerance;  // relative, of each number
  std::function<Numbers(Communicator*)> run;
};

// Prime, so that no number of processes and no size of a batch divides it.
inline constexpr Index kSpreadRows = 37;
inline constexpr Index kSpreadBatch = 12;  // leaves a last batch of one row, fewer than there are processes

// Two thirds of the entries are zero when sparse, and some rows are empty.
template <class Scalar>
std::unique_ptr<Problem<Scalar>> spread_problem(Family family, bool sparse, ThreadPool& pool,
                                                Communicator* communicator, Index rows = kSpreadRows, Index columns = 6,
                                                double size = 1) {
  const Index classes = family == Family::softmax ? 3 : 1;
  DenseMatrix<double> features = random_matrix(rows, columns, 21);
  const Vector<double> targets = random_targets(family, features, classes, 22);
  if (sparse) features = (features.array().abs() < 0.9).select(0, features);
  features *= size;
  const auto [first, last] =
      communicator == nullptr ? std::pair(Index{0}, rows) : share_of(rows, communicator->rank(), communicator->size());
  const DenseMatrix<Scalar> own = features.middleRows(first, last - first).template cast<Scalar>();
  const Vector<Scalar> own_targets = targets.segment(first, last - first).template cast<Scalar>();
  const ProblemSetup setup{family, classes, {0.01, {}}, 4.0};
  typename Problem<Scalar>::Matrix matrix = own;
  if (sparse) matrix = SparseMatrix<Scalar>(own.sparseView());
  return std::make_unique<Problem<Scalar>>(std::move(matrix), own_targets, setup, pool, communicator);
}

template <class Scalar>
void append(Numbers& numbers, const Weights<Scalar>& weights) {
  for (const Scalar weight : weights.reshaped()) numbers.push_back(static_cast<double>(weight));
}

inline void append(Numbers& numbers, const Measured& measured) {
  for (double number :
       {measured.constant.value, measured.data_part, measured.features.frobenius, measured.features.square_frobenius}) {
    numbers.push_back(number);
  }
}

template <class Scalar>
void append(Numbers& numbers, const Outcome<Scalar>& outcome) {
  append(numbers, outcome.state.weights);
  for (double number : {outcome.last.loss, outcome.last.gradient_norm, outcome.last.rate}) numbers.push_back(number);
  const RunChecks& checks = outcome.checks;
  for (std::int64_t count : {checks.measurements, checks.rises, checks.bound_exceeded, checks.descent_missed,
                             outcome.last.epoch, outcome.last.step}) {
    numbers.push_back(static_cast<double>(count));
  }
}

// Losses, gradients and constants of every kind: over all rows, a batch that touches every process, and a single row.
template <class Scalar>
Numbers measured_numbers(const Problem<Scalar>& problem) {
  Numbers numbers;
  Weights<Scalar> weights = problem.zero_weights(), gradient;
  Random random(23);
  for (Scalar& weight : weights.reshaped()) weight = static_cast<Scalar>(random.normal());
  std::vector<Index> batch;
  for (Index row = 0; row < problem.rows(); row += 5) batch.push_back(problem.rows() - 1 - row);
  const std::vector<Index> last = {problem.rows() - 1};
  numbers.push_back(problem.evaluate(weights, gradient));
  append(numbers, gradient);
  for (const std::vector<Index>& rows : {batch, last}) {
    numbers.push_back(problem.evaluate(weights, gradient, rows));
    append(numbers, gradient);
    for (ConstantKind kind : kConstantKinds) append(numbers, problem.measure(kind, 3.0, rows));
  }
  for (ConstantKind kind : kConstantKinds) append(numbers, problem.measure(kind, 3.0));
  return numbers;
}

inline Numbers advised_numbers(const Problem<double>& problem) {
  const Advice advice = advise(problem);
  Numbers numbers = {static_cast<double>(advice.kind), static_cast<double>(advice.steps)};
  for (const Trial& trial : advice.trials) {
    numbers.push_back(trial.rate);
    numbers.push_back(trial.loss);
  }
  return numbers;
}

inline std::vector<SpreadCase> measured_cases() {
  std::vector<SpreadCase> cases;
  for (const bool sparse : {false, true}) {
    const std::string kind = sparse ? "sparse" : "dense";
    for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
      const std::string name = to_string(family) + ", " + kind;
      cases.push_back({name + ", double", 1e-10, [=](Communicator* communicator) {
                         ThreadPool pool(1);
                         return measured_numbers(*spread_problem<double>(family, sparse, pool, communicator));
                       }});
      cases.push_back({name + ", float", 1e-4, [=](Communicator* communicator) {
                         ThreadPool pool(1);
                         return measured_numbers(*spread_problem<float>(family, sparse, pool, communicator));
                       }});
    }
    cases.push_back({"more columns than rows, " + kind, 1e-10, [=](Communicator* communicator) {
                       ThreadPool pool(1);
                       return measured_numbers(
                           *spread_problem<double>(Family::linear, sparse, pool, communicator, 20, 700));
                     }});
    cases.push_back({"fewer rows than processes, " + kind, 1e-10, [=](Communicator* communicator) {
                       ThreadPool pool(1);
                       return measured_numbers(
                           *spread_problem<double>(Family::linear, sparse, pool, communicator, 2, 3));
                     }});
    cases.push_back({"numbers whose squares overflow, " + kind, 1e-10, [=](Communicator* communicator) {
                       ThreadPool pool(1);
                       const auto problem =
                           spread_problem<double>(Family::logistic, sparse, pool, communicator, 20, 3, 1e200);
                       Numbers numbers;
                       append(numbers, problem->measure(ConstantKind::certified, 0));
                       numbers.resize(3);  // the fourth power is past the largest number
                       return numbers;
                     }});
  }
  return cases;
}

inline std::vector<SpreadCase> advice_cases() {
  std::vector<SpreadCase> cases;
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    for (const bool sparse : {false, true}) {
      cases.push_back({"advice, " + to_string(family), 1e-10, [=](Communicator* communicator) {
                         ThreadPool pool(1);
                         return advised_numbers(*spread_problem<double>(family, sparse, pool, communicator));
                       }});
    }
  }
  return cases;
}

inline SpreadCase solver_case(Solver solver, ConstantKind constant, Recompute recompute, Index batch, Family family,
                              bool sparse, std::int64_t epochs) {
  SolverOptions options;
  options.solver = solver;
  options.constant = constant;
  options.recompute = recompute;
  options.batch = batch;
  options.epochs = epochs;
  const std::string name = to_string(solver) + ", " + to_string(constant) + ", " + to_string(recompute) + ", " +
                           to_string(family) + (sparse ? ", sparse" : "");
  return {name, 1e-10, [=](Communicator* communicator) {
            ThreadPool pool(1);
            Numbers numbers;
            append(numbers,
                   solve(*spread_problem<double>(family, sparse, pool, communicator), options, State<double>{}));
            return numbers;
          }};
}

inline SpreadCase search_case(Family family, std::int64_t epochs) {
  return {"lbfgs, " + to_string(family), 1e-10, [=](Communicator* communicator) {
            ThreadPool pool(1);
            SolverOptions options;
            options.epochs = epochs;
            Numbers numbers;
            append(numbers,
                   solve_lbfgs(*spread_problem<double>(family, false, pool, communicator), options, State<double>{}));
            return numbers;
          }};
}

// Every solver, every constant and every family, and most of what they can be together.
inline std::vector<SpreadCase> all_solver_cases() {
  constexpr std::int64_t kEpochs = 25;
  std::vector<SpreadCase> cases;
  for (Family family : {Family::linear, Family::logistic, Family::softmax}) {
    for (const bool sparse : {false, true}) {
      const auto add = [&](Solver solver, ConstantKind kind, Recompute recompute, Index batch) {
        cases.push_back(solver_case(solver, kind, recompute, batch, family, sparse, kEpochs));
      };
      for (ConstantKind kind : kConstantKinds) {
        add(Solver::gd, kind, Recompute::never, 0);
        add(Solver::sgd, kind, Recompute::batch, kSpreadBatch);
      }
      add(Solver::accelerated, ConstantKind::gradient, Recompute::never, 0);
      add(Solver::adamo, ConstantKind::certified, Recompute::epoch, kSpreadBatch);
      add(Solver::rmsprop, ConstantKind::certified, Recompute::never, kSpreadBatch);
      add(Solver::auto_adam, ConstantKind::certified, Recompute::batch, 0);
    }
    cases.push_back(search_case(family, 10));
  }
  return cases;
}

// Every solver, constant and family once or twice: for processes, which take longer to hear one another.
inline std::vector<SpreadCase> few_solver_cases() {
  constexpr std::int64_t kEpochs = 5;
  return {
      solver_case(Solver::gd, ConstantKind::published, Recompute::never, 0, Family::linear, false, kEpochs),
      solver_case(Solver::gd, ConstantKind::coded, Recompute::never, 0, Family::linear, true, kEpochs),
      solver_case(Solver::accelerated, ConstantKind::gradient, Recompute::never, 0, Family::logistic, true, kEpochs),
      solver_case(Solver::sgd, ConstantKind::certified, Recompute::batch, kSpreadBatch, Family::softmax, false,
                  kEpochs),
      solver_case(Solver::adamo, ConstantKind::certified, Recompute::epoch, kSpreadBatch, Family::softmax, true,
                  kEpochs),
      solver_case(Solver::rmsprop, ConstantKind::coded, Recompute::never, kSpreadBatch, Family::logistic, false,
                  kEpochs),
      solver_case(Solver::auto_adam, ConstantKind::certified, Recompute::batch, 0, Family::linear, true, kEpochs),
      search_case(Family::linear, kEpochs),
      search_case(Family::softmax, kEpochs),
  };
}

// How the numbers of several processes differ from those of one; empty when they do not.
inline std::string difference(const SpreadCase& spread, const Numbers& one, const Numbers& communicator) {
  if (one.size() != communicator.size()) return spread.name + ": another count of numbers";
  double largest = 0;  // a weight near zero is as exact as the weights beside it
  for (double number : one) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double scale = std::max(std::abs(one[i]), 1e-3 * std::min(largest, 1.0));
    if (!(std::abs(one[i] - communicator[i]) <= spread.tolerance * scale)) {
      return spread.name + ": number " + std::to_string(i) + " is " + std::to_string(communicator[i]) + ", alone " +
             std::to_string(one[i]) + ", off by " + std::to_string(std::abs(one[i] - communicator[i]) / scale / 1e-10) +
             "e-10";
    }
  }
  return {};
}

}  // namespace lipschitzlr::linear

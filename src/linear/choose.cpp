#include "lipschitzlr/linear/choose.hpp"

#include <fmt/format.h>

#include "linear/row_sample.hpp"
#include "linear/row_space.hpp"
#include "lipschitzlr/base/collective.hpp"

namespace lipschitzlr::linear {
namespace {

constexpr Index kMostMatrixFeatures = 2000;  // of a dense design whose matrix constant is worth its Cholesky factor

struct SolverRule {
  bool least_squares;   // for that family; otherwise for classes without a penalty, where L-BFGS can't prove anything
  double most_weights;  // q
  bool needs_rows;      // at least q of them
  Solver solver;
  const char* reason;
};

// The first one that fits; L-BFGS where none does. A Hessian of q weights takes 8 q^2 bytes and q^3/3 multiplications.
constexpr SolverRule kSolverRules[] = {
    {true, 3000, false, Solver::newton, "solved directly with the exact Hessian"},
    {false, 500, true, Solver::newton, "without a penalty only Newton's method proves the optimum"},
};

}  // namespace

std::string to_string(Solver solver) {
  static constexpr const char* kNames[] = {"auto",        "newton", "lbfgs", "coordinate", "fista",    "gd",
                                           "accelerated", "sgd",    "adamo", "rmsprop",    "auto-adam"};
  return kNames[static_cast<std::size_t>(solver)];
}

template <class Scalar>
Shape shape_of(const Problem<Scalar>& problem) {
  Shape shape{problem.setup().family, problem.rows(), problem.features(), problem.setup().classes};
  shape.l1 = problem.setup().penalty.l1 > 0;
  shape.penalised = !problem.setup().penalty.empty();
  if (const auto* matrix = std::get_if<SparseMatrix<Scalar>>(&problem.matrix())) {
    shape.sparse = true;
    shape.stored = all_reduce_sum(problem.communicator(), static_cast<double>(matrix->nonZeros()));
  } else {
    shape.stored = static_cast<double>(shape.rows) * static_cast<double>(shape.features);
  }
  return shape;
}

Choice choose_solver(const Shape& shape) {
  const double q = shape.weights();
  if (shape.l1) return {Solver::coordinate, "an L1 penalty: coordinate descent over a working set"};
  const auto text = [&](const char* reason) {
    return fmt::format("{} weights and {} rows: {}", q, shape.rows, reason);
  };
  if (choose_coordinates(shape) == Coordinates::sample) {
    return {Solver::lbfgs, text("L-BFGS in the coordinates of the Hessian, begun on a sample of the rows")};
  }
  if (shape.penalised && is_wide(shape)) {
    return {Solver::lbfgs, text("solved in the space of the rows, proven by L-BFGS in all weights")};
  }
  for (const SolverRule& rule : kSolverRules) {
    if (rule.least_squares != (shape.family == Family::linear) || q > rule.most_weights) continue;
    if (!rule.least_squares && shape.penalised) continue;
    if (rule.needs_rows && static_cast<double>(shape.rows) < q) continue;
    return {rule.solver, text(rule.reason)};
  }
  return {Solver::lbfgs, text(choose_coordinates(shape) == Coordinates::matrix
                                  ? "L-BFGS in the coordinates of the matrix constant"
                                  : "L-BFGS in the coordinates of the columns' constants")};
}

Coordinates choose_coordinates(const Shape& shape) {
  if (shape.family == Family::logistic && shape.features <= kMostMatrixFeatures && sample_pays(shape)) {
    return Coordinates::sample;
  }
  return !shape.sparse && shape.features <= kMostMatrixFeatures ? Coordinates::matrix : Coordinates::diagonal;
}

template Shape shape_of(const Problem<float>&);
template Shape shape_of(const Problem<double>&);

}  // namespace lipschitzlr::linear

#pragma once
// Which solver a problem gets when none is asked for: by its shape alone, so that the same data get the same solver on
// any machine. With p features, k outputs and q = p (k-1) weights that matter (p for one output):
//   L1 in the penalty                          coordinate   one weight at a time, with the column's constant
//   twice as many features as rows             lbfgs        begun at the optimum in the space of the rows
//   least squares, p small                     newton       direct: the Hessian is exact, one step ends it
//   two classes, many rows for each weight     lbfgs        in the coordinates of a sample's Hessian
//   classes without a penalty, q small         newton       the Hessian, with the matrix constant B behind it
//   everything else                            lbfgs        in the coordinates of B^1/2 or of B's diagonal
// The limits are the table in choose.cpp.

#include <string>

#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

// The last six take a learning rate (solver.hpp); the others search along lines or are exact, and certify the optimum.
enum class Solver { automatic, newton, lbfgs, coordinate, fista, gd, accelerated, sgd, adamo, rmsprop, auto_adam };
inline constexpr Solver kSolvers[] = {Solver::automatic, Solver::newton,  Solver::lbfgs,       Solver::coordinate,
                                      Solver::fista,     Solver::gd,      Solver::accelerated, Solver::sgd,
                                      Solver::adamo,     Solver::rmsprop, Solver::auto_adam};
std::string to_string(Solver solver);  // "auto", "newton", ..., "auto-adam"
inline bool takes_rate(Solver solver) { return solver >= Solver::gd; }
inline bool takes_l1(Solver solver) {
  return solver == Solver::automatic || solver == Solver::coordinate || solver == Solver::fista;
}

// What L-BFGS takes for round (lbfgs.hpp): nothing, the columns' constants, the matrix constant B, or the Hessian of a
// sample of the rows.
enum class Coordinates { plain, diagonal, matrix, sample };

struct Shape {
  Family family = Family::linear;
  Index rows = 0, features = 0, outputs = 1;
  bool sparse = false;
  bool l1 = false;    // in the penalty
  double stored = 0;  // values of the design, zeros of a dense one included
  bool penalised = false;

  double weights() const { return static_cast<double>(features) * static_cast<double>(outputs > 1 ? outputs - 1 : 1); }
};

// Of all processes; collective.
template <class Scalar>
Shape shape_of(const Problem<Scalar>& problem);

struct Choice {
  Solver solver = Solver::automatic;
  std::string reason;  // one sentence without its end: "few weights: Newton's method with the exact Hessian"
};

Choice choose_solver(const Shape& shape);
Coordinates choose_coordinates(const Shape& shape);

}  // namespace lipschitzlr::linear

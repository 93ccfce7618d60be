#pragma once
// The optimum of two classes for one lambda of a falling path after the other, as near as the choice between them
// needs. From the weights of the lambda before, L-BFGS in the coordinates of M = H + P: the penalty's curvature P is
// that of this lambda, H that of the loss at some weights passed on the way. H serves until five steps have not
// sufficed, and the M of one fold serve the others, which differ in a share of the rows.

#include <memory>
#include <optional>
#include <vector>

#include "linear/full_pass.hpp"
#include "lipschitzlr/bound/matrix.hpp"

namespace lipschitzlr::linear {

// Filled by the first fold.
struct PathMatrices {
  std::vector<std::shared_ptr<const bound::CurvatureMatrix>> of_lambda;
  Weights<double> start;  // the weights for the first lambda, near which its matrix is good
};

// Whether the problem is of the kind, and its matrices are worth keeping.
template <class Scalar>
bool takes_newton_path(const Problem<Scalar>& problem);

template <class Scalar>
class NewtonPath {
 public:
  // What is given must outlive it; its penalty is set here.
  NewtonPath(Problem<Scalar>& problem, PathMatrices& matrices);

  // The weights for the lambda of that number, the penalty with it: each number once, from 0 on. Collective.
  const Weights<double>& solve_with(const Penalty& penalty, std::size_t number);

 private:
  struct Point {
    Weights<double> weights, gradient;
    double loss = 0;  // and gradient: without the penalty
  };

  void evaluate(Point& point) const;
  void choose_matrix(const Penalty& penalty, std::size_t number);
  void renew(const Penalty& penalty);  // H and M are those of the weights
  bool step(const Penalty& penalty, const Point& penalised, const Weights<double>& direction);
  Point with_penalty(const Penalty& penalty, Point point) const;

  Problem<Scalar>& problem_;
  PathMatrices& matrices_;
  std::shared_ptr<const bound::CurvatureMatrix> matrix_;  // M
  Eigen::MatrixXd curvature_;                             // H, the last that was computed here
  bool renewed_ = false;                                  // ... for the last lambda
  Point now_;
  std::vector<Weights<double>> pairs_;  // of this lambda: two_loops.hpp
  Weights<double> found_;
};

}  // namespace lipschitzlr::linear

#pragma once
// A problem that compare.py has written into a folder as raw numbers: problem.txt says what it is, in one line
// ("softmax float dense 60000 784 10 0": family, scalar, kind, rows, columns, outputs, stored values).

#include <string>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::bench {

struct Description {
  linear::Family family;
  std::string scalar, kind;
  Index rows, columns, outputs, stored;
};

Description read_description(const std::string& folder);

template <class Scalar>
struct Problem {
  DenseMatrix<Scalar> dense;
  SparseMatrix<Scalar> sparse;
  Vector<Scalar> targets;
  linear::Weights<Scalar> weights;
};

template <class Scalar>
Problem<Scalar> read_problem(const std::string& folder, const Description& description);

}  // namespace lipschitzlr::bench

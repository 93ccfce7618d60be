#pragma once
// Far fewer rows than features: with a penalty l2/2 ||w||^2 the optimum is a combination of the rows, so that as many
// weights as there are rows suffice. F being the penalised columns of the design and FF' = LL', w = F'L^-T v has the
// scores Lv and the norm of v: the problem with the design L instead of F is the same one. Of centred columns the rows
// add up to 0: FF' is singular, L has a column less, and only the other rows are combined.

#include <memory>
#include <optional>

#include "lipschitzlr/base/cholesky.hpp"
#include "lipschitzlr/linear/choose.hpp"

namespace lipschitzlr::linear {

// Whether there are so few rows.
bool is_wide(const Shape& shape);

template <class Scalar>
class RowSpace {
 public:
  // Nothing where it can't be done: with L1 or Tikhonov's penalty, with rows in other processes, with more rows than
  // one that depend on others, with too many rows. The problem must outlive it.
  static std::optional<RowSpace> of(const Problem<Scalar>& problem);

  // The problem with the design L; its penalty may be set.
  Problem<double>& reduced() { return *reduced_; }
  // w of its weights v.
  Weights<double> expanded(const Weights<double>& v) const;

 private:
  RowSpace(const Problem<Scalar>& problem, Cholesky factor, DenseMatrix<double> design);

  const Problem<Scalar>* problem_;
  Cholesky factor_;
  Index rank_;
  std::unique_ptr<Problem<double>> reduced_;
};

// The optimum within the given share of the loss, found there; nothing where that can't be done, or without l2.
template <class Scalar>
std::optional<Weights<Scalar>> optimum_in_row_space(const Problem<Scalar>& problem, double gap_share);

}  // namespace lipschitzlr::linear

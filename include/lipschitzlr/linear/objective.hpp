#pragma once
// The mean loss of a linear model over a set of rows and its gradient, in one fused pass over the data, threaded and
// vectorised, with the same bits for any number of threads. No penalty: see penalty.hpp.
//   linear    f(w) = 1/2m sum_i (x_i w - y_i)^2
//   logistic  f(w) = 1/m  sum_i log(1 + exp(x_i w)) - y_i x_i w,           y_i in {0, 1}
//   softmax   f(W) = 1/m  sum_i logsumexp(x_i W) - (x_i W)_{y_i},          y_i in {0, ..., k-1}
// Finite for any finite input.

#include <memory>
#include <span>
#include <string>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/base/streamed_rows.hpp"

namespace lipschitzlr::linear {

enum class Family { linear, logistic, softmax };

std::string to_string(Family family);
Family family_from(const std::string& name);  // throws Error (usage)

// One column of weights per output: n x 1 for linear and logistic, n x k for softmax.
template <class Scalar>
using Weights = DenseMatrix<Scalar>;

template <class Scalar>
class Objective {
 public:
  // The matrix and the pool must outlive the objective, and the matrix must not change: the targets are copied, and so
  // are small or binary matrices, in another layout. targets holds y_i (class indices for logistic and softmax);
  // classes is k for softmax and 1 otherwise. row_weights, when given, makes the mean a weighted one, sum_i w_i loss_i
  // / sum_i w_i. Throws Error (data) when they do not fit or a weight is negative or not finite.
  Objective(Family family, const DenseMatrix<Scalar>& features, const Vector<Scalar>& targets, Index classes,
            ThreadPool& pool, const Vector<double>& row_weights = {});
  Objective(Family family, const SparseMatrix<Scalar>& features, const Vector<Scalar>& targets, Index classes,
            ThreadPool& pool, const Vector<double>& row_weights = {});
  Objective(Family family, const StreamedRows<Scalar>& features, const Vector<Scalar>& targets, Index classes,
            ThreadPool& pool, const Vector<double>& row_weights = {});
  ~Objective();

  // Takes Keras's clipped cross-entropy in place of softmax's from now on: -log(clip(p_y, e, 1 - e)), e = 1e-7, which
  // has no gradient where it is clipped. Softmax only.
  void clip();

  // Mean loss over all rows; gradient is resized once and overwritten. No allocation after the first call, unless the
  // rows are streamed.
  double evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient) const;
  // The same over the given rows only (a mini-batch; m is their number, or the sum of their weights).
  double evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient, std::span<const Index> rows) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Scores x_i W, one row each, for prediction: rows x outputs.
template <class Scalar>
DenseMatrix<Scalar> scores(const DenseMatrix<Scalar>& features, const Weights<Scalar>& weights, ThreadPool& pool);
template <class Scalar>
DenseMatrix<Scalar> scores(const SparseMatrix<Scalar>& features, const Weights<Scalar>& weights, ThreadPool& pool);
template <class Scalar>
DenseMatrix<Scalar> scores(const StreamedRows<Scalar>& features, const Weights<Scalar>& weights, ThreadPool& pool);

// The instruction set of the kernels: "avx512", "avx2", "neon" or "plain"; the best the processor has. The environment
// variable LIPSCHITZLR_ISA selects another (for tests and benchmarks) and is read when an objective is made; a name
// that is unknown, or that the processor lacks, is an Error (usage).
std::string kernel_isa();

}  // namespace lipschitzlr::linear

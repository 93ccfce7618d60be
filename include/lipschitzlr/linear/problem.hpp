#pragma once
// A training problem: the design matrix (scaled features and intercept), the targets, the penalty. It evaluates the
// penalised loss and its gradient, over all rows or a batch, and knows its Lipschitz constants (bound/loss.hpp,
// bound/gradient.hpp) for all rows or a batch. Its rows may be distributed over the processes of a communicator.

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lipschitzlr/bound/constant.hpp"
#include "lipschitzlr/bound/norms.hpp"
#include "lipschitzlr/linear/objective.hpp"
#include "lipschitzlr/linear/penalty.hpp"
#include "lipschitzlr/linear/row_share.hpp"
#include "lipschitzlr/rate/second_moment.hpp"

namespace lipschitzlr::linear {

using bound::ConstantKind;
using bound::kConstantKinds;

// K where no constant that it occurs in is asked for.
inline constexpr double kNoWeightBound = std::numeric_limits<double>::quiet_NaN();

struct ProblemSetup {
  Family family = Family::linear;
  Index classes = 1;  // k for softmax, 1 otherwise
  Penalty penalty = {};
  // K: what ||w|| is taken to stay under; see default_weight_bound. A constant that K occurs in needs it to be set.
  double weight_bound = kNoWeightBound;
  // Softmax with Keras's clipped loss (Objective::clip), for the solvers with a rate: it is not convex, and what the
  // others know of softmax does not hold for it.
  bool clipped = false;
};

// K when the user gives none: for linear regression the paper's guess from the raw features; for classification with an
// l2 penalty sqrt(2 ln(k) / l2), which no run that starts at zero and descends can pass, since l2/2 ||w||^2 <= f(0) =
// ln k; with a Tikhonov term alone the guess again; otherwise 0, K does not occur.
double default_weight_bound(Family family, Index classes, const Penalty& penalty, double raw_feature_guess);

// A constant and the norms from which second moments are estimated (rate/second_moment.hpp).
struct Measured {
  bound::Constant constant;
  double data_part = 0;  // the constant without the penalty's share
  rate::ActivationNorms features =
      {};  // of X, the A of a model without hidden layers; its sums with an L2 penalty only
};

template <class Scalar>
class Problem {
 public:
  using Matrix = std::variant<DenseMatrix<Scalar>, SparseMatrix<Scalar>, StreamedRows<Scalar>>;

  // The pool and the communicator must outlive the problem. With a communicator the features and targets are this
  // process' rows, possibly none; rows are numbered from rank 0's first to the last rank's last. Everything that is
  // evaluated or measured then covers all of them, is collective, and has the same bits in every process: those of one
  // process with all rows, except for rounding. row_weights w, one per row when given, makes the loss the weighted mean
  // sum w_i loss_i / sum w_i, and every constant that of this loss: a row of weight 2 counts as two rows. Throws Error
  // (data) when targets, weights and features do not fit or no row weighs anything.
  Problem(Matrix features, Vector<Scalar> targets, ProblemSetup setup, ThreadPool& pool,
          Communicator* communicator = nullptr, const Vector<double>& row_weights = {});
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  const ProblemSetup& setup() const { return setup_; }
  void set_penalty(Penalty penalty) { setup_.penalty = std::move(penalty); }  // for a path of penalties
  const Matrix& matrix() const { return features_; }                          // of this process' rows,
  const Vector<Scalar>& targets() const { return targets_; }                  // and these too
  const Vector<double>& row_weights() const { return row_weights_; }          // and these; empty: all 1
  double total_weight() const { return total_weight_; }  // of all processes; the number of rows without weights
  Index rows() const { return share_.total(); }          // of all processes
  Index features() const;
  Communicator* communicator() const { return share_.communicator(); }
  ThreadPool& pool() const { return pool_; }
  Weights<Scalar> zero_weights() const { return Weights<Scalar>::Zero(features(), setup_.classes); }

  double evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient) const;
  double evaluate(const Weights<Scalar>& weights, Weights<Scalar>& gradient, std::span<const Index> rows) const;
  // The problem of about one in so many rows, drawn by their numbers among all; collective.
  std::unique_ptr<Problem> sample(Index one_in) const;
  // The scores x_i W of all rows of all processes, rows x outputs: what metrics of the training rows are made of.
  DenseMatrix<double> scores(const Weights<Scalar>& weights) const;
  DenseMatrix<double> own_scores(const Weights<Scalar>& weights) const;  // of the rows of this process

  // Whether there is such a constant: the authors' code has none with a Tikhonov term, the paper none unless Gamma is
  // square. measure() then throws Error (usage).
  bool has_constant(ConstantKind kind) const;
  // The constant over all rows, or over a batch (m is then the number of its rows).
  bound::Constant constant(ConstantKind kind) const { return measure(kind, setup_.weight_bound).constant; }
  Measured measure(ConstantKind kind, double weight_bound) const;
  Measured measure(ConstantKind kind, double weight_bound, std::span<const Index> rows) const;

 private:
  // Measured when first asked for: what a family's formula lacks is never computed.
  struct Norms {
    std::optional<double> frobenius, square_frobenius, sum, cube_sum, row_sum, gram, target_product;
    std::optional<double> spectral;  // its upper end
  };
  // Some of this process' rows, and what the rows of all processes that they are part of weigh.
  template <class AnyMatrix>
  struct Rows {
    const AnyMatrix& features;
    const Vector<Scalar>& targets;
    const Vector<double>& weights;  // empty: all 1
    double total;                   // weight

    // norm(X) with every row times its weight to the given power.
    template <class Norm>
    double weighed(double power, const Norm& norm) const;
  };
  template <class AnyMatrix>
  Measured measure(ConstantKind kind, double weight_bound, const Rows<AnyMatrix>& rows, Norms& norms) const;
  template <class AnyMatrix>
  double frobenius(const Rows<AnyMatrix>& rows, Norms& norms) const;
  template <class AnyMatrix>
  bound::Constant smoothness(const Rows<AnyMatrix>& rows, Norms& norms) const;
  template <class AnyMatrix>
  bound::Constant data_constant(ConstantKind kind, double weight_bound, const Rows<AnyMatrix>& rows,
                                Norms& norms) const;
  double weight_of(std::span<const Index> here) const;
  double total_weight(std::span<const Index> rows, std::span<const Index> here) const;  // collective with weights

  Matrix features_;
  Vector<Scalar> targets_;
  Vector<double> row_weights_;
  double total_weight_ = 0, weight_here_ = 0;
  bool weighted_ = false;  // in any process
  ProblemSetup setup_;
  ThreadPool& pool_;
  RowShare share_;
  std::optional<Objective<Scalar>> objective_;  // none where there are no rows
  mutable Norms norms_;
};

}  // namespace lipschitzlr::linear

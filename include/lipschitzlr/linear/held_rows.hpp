#pragma once
// Rows that a model is not trained on, as it sees them, to measure its loss by: the folds of cross-validation, and what
// early stopping holds out.

#include <variant>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

class HeldRows {
 public:
  // row_weights: how much each row counts; empty: all alike.
  HeldRows(const data::Table& rows, const data::Scaler& scaler, Vector<double> row_weights);

  Index rows() const { return target_.size(); }
  double weight() const;  // of all of them together
  // The mean loss of the family, without a penalty; 0 when no row weighs anything.
  double loss(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool) const;

 private:
  std::variant<DenseMatrix<double>, SparseMatrix<double>> design_;
  Vector<double> target_, row_weights_;
};

}  // namespace lipschitzlr::linear

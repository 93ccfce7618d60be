#pragma once
// Rows that a model is not trained on, as it sees them, to measure its loss by: the folds of cross-validation, and what
// early stopping holds out.

#include <vector>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/data/table/table.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

class HeldRows {
 public:
  // row_weights: how much each row counts; empty: all alike.
  HeldRows(const data::Table& rows, const data::Scaler& scaler, Vector<double> row_weights);
  // Some rows of a table. Dense ones that take more than so many bytes are read where they are: they must outlive it.
  HeldRows(const data::TableView& table, const std::vector<Index>& rows, const data::Scaler& scaler,
           Vector<double> row_weights, std::size_t most_held);

  Index rows() const { return target_.size(); }
  // The loss of each row times its weight, without a penalty.
  Vector<double> losses(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool) const;
  // The mean of them, over the rows of all processes; 0 when no row weighs anything. Collective.
  double loss(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool,
              Communicator* communicator = nullptr) const;

 private:
  double weight() const;

  Problem<double>::Matrix design_;
  Vector<double> target_, row_weights_;
};

}  // namespace lipschitzlr::linear

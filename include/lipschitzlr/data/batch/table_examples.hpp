#pragma once
// The rows of a table, scaled, as what a network is trained on. A sparse table stays sparse: each batch is made dense.

#include <variant>
#include <vector>

#include "lipschitzlr/data/batch/examples.hpp"
#include "lipschitzlr/data/table/scaling.hpp"

namespace lipschitzlr::data {

class TableExamples : public Examples {
 public:
  // The features of the table, scaled without an intercept; classes: of its target, 0 for numbers, which become
  // (number - offset) * factor. A table without a target has zeros for it. Throws Error (data) when the table has
  // another number of columns than the scaler.
  TableExamples(const Table& table, const Scaler& scaler, Index classes, double target_offset = 0,
                double target_factor = 1);

  Index count() const override { return targets_.size(); }
  Shape shape() const override { return {.channels = columns_}; }
  Index classes() const override { return classes_; }
  double target(Index row) const override { return targets_[row]; }
  void fill(std::span<const Index> chosen, std::int64_t epoch, float* out) const override;
  void fill_plain(std::span<const Index> chosen, float* out) const override;

 private:
  std::variant<DenseMatrix<float>, SparseMatrix<float>> rows_;
  Index columns_ = 0, classes_ = 0;
  Vector<double> targets_;
};

}  // namespace lipschitzlr::data

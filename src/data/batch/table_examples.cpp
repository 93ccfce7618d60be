#include "lipschitzlr/data/batch/table_examples.hpp"

#include <algorithm>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {

TableExamples::TableExamples(const Table& table, const Scaler& scaler, Index classes, double target_offset,
                             double target_factor)
    : rows_(scaler.design<float>(view_of(table.features))), columns_(scaler.design_columns()), classes_(classes) {
  if (scaler.intercept) throw Error(Fault::usage, "a network has its own intercepts; scale its rows without one");
  targets_ = table.target.size() > 0 ? table.target : Vector<double>::Zero(table.rows());
  if (classes == 0) targets_ = (targets_.array() - target_offset) * target_factor;
}

void TableExamples::fill(std::span<const Index> chosen, std::int64_t, float* out) const { fill_plain(chosen, out); }

void TableExamples::fill_plain(std::span<const Index> chosen, float* out) const {
  if (const auto* dense = std::get_if<DenseMatrix<float>>(&rows_)) {
    for (const Index row : chosen) out = std::copy_n(dense->data() + row * columns_, columns_, out);
    return;
  }
  const auto& sparse = std::get<SparseMatrix<float>>(rows_);
  for (const Index row : chosen) {
    std::fill_n(out, columns_, 0.0f);
    for (SparseMatrix<float>::InnerIterator cell(sparse, row); cell; ++cell) out[cell.index()] = cell.value();
    out += columns_;
  }
}

}  // namespace lipschitzlr::data

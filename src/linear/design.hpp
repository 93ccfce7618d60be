#pragma once
// The design matrix of a problem from the features of a table, all rows of them or some.

#include <vector>

#include "lipschitzlr/data/table/scaling.hpp"
#include "lipschitzlr/linear/problem.hpp"

namespace lipschitzlr::linear {

// rows: null: all. Made on the threads of the pool when there is one.
template <class Scalar>
typename Problem<Scalar>::Matrix design_in_memory(const data::FeatureView& features, const std::vector<Index>* rows,
                                                  const data::Scaler& scaler, ThreadPool* pool) {
  typename Problem<Scalar>::Matrix made;  // returned by one statement: Eigen would copy a sparse matrix that is moved
  if (data::is_dense(features)) {
    StreamedRows<Scalar> design = scaler.streamed_design<Scalar>(features);
    if (rows != nullptr) design = design.take(*rows);
    made = design.dense(pool);
  } else {
    const data::Features taken = rows == nullptr ? data::Features() : data::take_rows(features, *rows);
    auto design = scaler.design<Scalar>(rows == nullptr ? features : data::view_of(taken), pool);
    made.template emplace<SparseMatrix<Scalar>>().swap(std::get<SparseMatrix<Scalar>>(design));
  }
  return made;
}

// The same, but dense rows whose design takes more bytes than most_held, or that are streamed themselves, are streamed:
// those in memory must outlive it.
template <class Scalar>
typename Problem<Scalar>::Matrix design_of(const data::FeatureView& features, const std::vector<Index>* rows,
                                           const data::Scaler& scaler, ThreadPool* pool, std::size_t most_held) {
  if (data::is_dense(features)) {
    StreamedRows<Scalar> design = scaler.streamed_design<Scalar>(features);
    if (rows != nullptr) design = design.take(*rows);
    const bool large = static_cast<std::size_t>(design.size()) > most_held / sizeof(Scalar);
    if (large || data::is_streamed(features)) return design;
  }
  return design_in_memory<Scalar>(features, rows, scaler, pool);
}

}  // namespace lipschitzlr::linear

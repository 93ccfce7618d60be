#pragma once
// Weights as JSON rows and back, shared by the model file and the resume state.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {

template <class Scalar>
nlohmann::json rows_of(const Weights<Scalar>& weights) {
  nlohmann::json rows = nlohmann::json::array();
  for (Index i = 0; i < weights.rows(); ++i) {
    rows.push_back(std::vector<double>(weights.row(i).begin(), weights.row(i).end()));
  }
  return rows;
}

// Throws Error (data) when rows differ in length.
template <class Scalar>
Weights<Scalar> weights_from(const std::vector<std::vector<double>>& rows) {
  if (rows.empty()) return {};
  Weights<Scalar> weights(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (Index i = 0; i < weights.rows(); ++i) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    if (row.size() != rows.front().size()) {
      throw Error(Fault::data, fmt::format("row {} of the weights has {} numbers where the first has {}", i + 1,
                                           row.size(), rows.front().size()));
    }
    for (Index j = 0; j < weights.cols(); ++j) weights(i, j) = static_cast<Scalar>(row[static_cast<std::size_t>(j)]);
  }
  return weights;
}

}  // namespace lipschitzlr::linear

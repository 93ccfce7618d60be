#pragma once
// Sums over the rows of a dense matrix by column, row after row: what means, deviations and ranges are made of. Rows
// may weigh more or less than others; one of weight 0 must not be added.

#include <limits>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr {

struct ColumnSums {
  using Row = Eigen::Array<double, 1, Eigen::Dynamic>;
  Row sum, magnitude;  // of the values and of their sizes
  Row low, high;
  Row left, squares;  // of what the mean leaves over

  explicit ColumnSums(Index columns = 0)
      : sum(Row::Zero(columns)),
        magnitude(sum),
        low(sum + std::numeric_limits<double>::infinity()),
        high(-low),
        left(sum),
        squares(sum) {}

  // A first pass over the rows, then a second with the mean, sum divided by what the rows weigh.
  template <class Values>
  void add(double weight, const Values& values) {
    sum += weight * values;
    magnitude += weight * values.abs();
    low = low.min(values);
    high = high.max(values);
  }
  template <class Values>
  void add_left(double weight, const Values& values, const Row& mean) {
    left += weight * (values - mean);
    squares += weight * (values - mean).square();
  }

  // for_each(visit) calls visit(weight, values) for every row, each time it is called; total: what the rows weigh.
  template <class ForEach>
  static ColumnSums of(Index columns, double total, const ForEach& for_each) {
    ColumnSums sums(columns);
    for_each([&](double weight, const auto& values) { sums.add(weight, values); });
    const Row mean = sums.sum / total;
    for_each([&](double weight, const auto& values) { sums.add_left(weight, values, mean); });
    return sums;
  }
};

}  // namespace lipschitzlr

#pragma once
// Sums over the rows of a dense matrix by column, row after row: what means, deviations and ranges are made of. Rows
// may weigh more or less than others; one of weight 0 must not be added.

#include <limits>

#include "lipschitzlr/base/collective.hpp"
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

  // Of the rows of all processes, from those of each: here is what the rows of this one weigh, all what all of them do.
  // Collective.
  void unite(Communicator* communicator, double here, double all) {
    if (communicator == nullptr) return;
    const Row own_mean = here > 0 ? Row(sum / here) : Row::Zero(sum.size()).eval();
    Row lowest = -low;
    for (Row* row : {&sum, &magnitude}) all_reduce_sum(communicator, *row);
    for (Row* row : {&lowest, &high}) all_reduce_max(communicator, *row);
    low = -lowest;
    // What the mean of all leaves over, from what the mean of these rows does.
    const Row shift = own_mean - sum / all;
    squares += shift * (2 * left + here * shift);
    left += here * shift;
    for (Row* row : {&left, &squares}) all_reduce_sum(communicator, *row);
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

#include "lipschitzlr/linear/row_share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {

RowShare::RowShare(Index here, Communicator* communicator) : communicator_(communicator), here_(here), total_(here) {
  if (communicator == nullptr) return;
  const std::vector<double> counts = all_gather(communicator, {static_cast<double>(here)});
  first_ = static_cast<Index>(std::accumulate(counts.begin(), counts.begin() + communicator->rank(), 0.0));
  total_ = static_cast<Index>(std::accumulate(counts.begin(), counts.end(), 0.0));
}

std::span<const Index> RowShare::here_of(std::span<const Index> rows) const {
  if (communicator_ == nullptr) return rows;
  if (rows.empty()) throw Error(Fault::data, "a mini-batch needs at least one row");
  const auto outside = [this](Index row) { return row < 0 || row >= total_; };
  if (const auto wrong = std::find_if(rows.begin(), rows.end(), outside); wrong != rows.end()) {
    throw Error(Fault::data, fmt::format("a mini-batch asks for row {} of {}", *wrong + 1, total_));
  }
  chosen_.clear();
  for (const Index row : rows) {
    if (row >= first_ && row < first_ + here_) chosen_.push_back(row - first_);
  }
  return chosen_;
}

template <class Scalar>
double RowShare::combine(double loss, Weights<Scalar>& gradient, double count, double total) const {
  if (communicator_ == nullptr) return loss;
  const double share = total > 0 ? count / total : 0;
  sums_.assign(static_cast<std::size_t>(gradient.size()) + 1, 0);
  Eigen::Map<Weights<double>> sum(sums_.data() + 1, gradient.rows(), gradient.cols());
  if (count > 0) {
    sums_[0] = share * loss;
    sum = share * gradient.template cast<double>();
  }
  communicator_->sum(std::span(sums_));
  gradient = sum.template cast<Scalar>();
  return sums_[0];
}

template double RowShare::combine(double, Weights<float>&, double, double) const;
template double RowShare::combine(double, Weights<double>&, double, double) const;

}  // namespace lipschitzlr::linear

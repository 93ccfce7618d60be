#include "lipschitzlr/linear/held_rows.hpp"

#include <limits>
#include <utility>

#include "linear/design.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {

HeldRows::HeldRows(const data::Table& rows, const data::Scaler& scaler, Vector<double> row_weights)
    : design_(design_of<double>(data::view_of(rows.features), nullptr, scaler, nullptr,
                                std::numeric_limits<std::size_t>::max())),
      target_(rows.target),
      row_weights_(std::move(row_weights)) {}

HeldRows::HeldRows(const data::TableView& table, const std::vector<Index>& rows, const data::Scaler& scaler,
                   Vector<double> row_weights, std::size_t most_held)
    : design_(design_of<double>(table.features, &rows, scaler, nullptr, most_held)),
      target_(table.target(rows)),
      row_weights_(std::move(row_weights)) {}

double HeldRows::weight() const {
  return row_weights_.size() == 0 ? static_cast<double>(target_.size()) : row_weights_.sum();
}

Vector<double> HeldRows::losses(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool) const {
  const DenseMatrix<double> scored =
      std::visit([&](const auto& matrix) { return scores(matrix, weights, pool); }, design_);
  return Vector<double>::NullaryExpr(target_.size(), [&](Index i) {
    return (row_weights_.size() == 0 ? 1 : row_weights_[i]) * row_loss(setup.family, scored, target_[i], i);
  });
}

double HeldRows::loss(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool,
                      Communicator* communicator) const {
  double sum = 0;  // not Eigen's, which adds in an order of its own
  for (const double loss : losses(setup, weights, pool)) sum += loss;
  const double total = all_reduce_sum(communicator, weight());
  sum = all_reduce_sum(communicator, sum);
  return total > 0 ? sum / total : 0;
}

}  // namespace lipschitzlr::linear

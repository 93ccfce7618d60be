#include "lipschitzlr/linear/held_rows.hpp"

#include <utility>

#include "lipschitzlr/linear/metrics.hpp"

namespace lipschitzlr::linear {
namespace {

using Design = std::variant<DenseMatrix<double>, SparseMatrix<double>>;

}  // namespace

HeldRows::HeldRows(const data::Table& rows, const data::Scaler& scaler, Vector<double> row_weights)
    : design_(std::visit([&](const auto& matrix) { return Design(scaler.design<double>(matrix)); }, rows.features)),
      target_(rows.target),
      row_weights_(std::move(row_weights)) {}

double HeldRows::weight() const {
  return row_weights_.size() == 0 ? static_cast<double>(target_.size()) : row_weights_.sum();
}

double HeldRows::loss(const ProblemSetup& setup, const Weights<double>& weights, ThreadPool& pool) const {
  const DenseMatrix<double> scored =
      std::visit([&](const auto& matrix) { return scores(matrix, weights, pool); }, design_);
  if (!(weight() > 0)) return 0;
  double sum = 0;
  for (Index i = 0; i < target_.size(); ++i) {
    sum += (row_weights_.size() == 0 ? 1 : row_weights_[i]) * row_loss(setup.family, scored, target_[i], i);
  }
  return sum / weight();
}

}  // namespace lipschitzlr::linear

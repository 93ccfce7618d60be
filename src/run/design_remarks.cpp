#include "run/design_remarks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/linear/gram.hpp"

namespace lipschitzlr::run {
namespace {

constexpr std::size_t kNamesShown = 5;
constexpr double kDependent = 1e-12;          // of a column's square, left over by the columns before it
constexpr double kIllConditioned = 1e8;       // half of a double's digits
constexpr Index kMostColumns = 500;           // looking for collinear ones takes their cube,
constexpr double kMostMultiplications = 1e9;  // ... and the Gram matrix so many

using ColumnList = std::vector<Index>;

std::string quoted_names(const ColumnList& columns, const data::Table& table) {
  std::vector<std::string> names;
  for (const Index column : columns) {
    if (names.size() == kNamesShown) break;
    names.push_back(fmt::format("\"{}\"", printable(table.feature_names[static_cast<std::size_t>(column)])));
  }
  const std::size_t more = columns.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

// By column, the least and the largest number, each with a minus before the least: one maximum over the processes.
using Reach = std::vector<double>;

Reach reach_of(const DenseMatrix<double>& features) {
  Reach reach(static_cast<std::size_t>(2 * features.cols()), -INFINITY);
  Eigen::Map<Eigen::Array<double, 2, Eigen::Dynamic, Eigen::RowMajor>> ends(reach.data(), 2, features.cols());
  for (Index row = 0; row < features.rows(); ++row) {
    ends.row(0) = ends.row(0).max(-features.row(row).array());
    ends.row(1) = ends.row(1).max(features.row(row).array());
  }
  return reach;
}

Reach reach_of(const StreamedRows<double>& features) {
  const ColumnSums& sums = features.column_sums();
  Reach reach;
  for (const double low : sums.low) reach.push_back(-low);
  reach.insert(reach.end(), sums.high.begin(), sums.high.end());
  return reach;
}

Reach reach_of(const SparseMatrix<double>& features) {
  const auto columns = static_cast<std::size_t>(features.cols());
  std::vector<Index> stored(columns, 0);
  std::vector<double> low(columns, INFINITY), high(columns, -INFINITY);
  for (Index row = 0; row < features.rows(); ++row) {
    for (SparseMatrix<double>::InnerIterator cell(features, row); cell; ++cell) {
      const auto j = static_cast<std::size_t>(cell.col());
      ++stored[j];
      low[j] = std::min(low[j], cell.value());
      high[j] = std::max(high[j], cell.value());
    }
  }
  Reach reach;
  for (std::size_t j = 0; j < columns; ++j) {
    if (stored[j] < features.rows()) low[j] = std::min(low[j], 0.0), high[j] = std::max(high[j], 0.0);
    reach.push_back(-low[j]);
  }
  reach.insert(reach.end(), high.begin(), high.end());
  return reach;
}

// Collective.
ColumnList constant_columns(const data::Features& features, Communicator* communicator) {
  Reach reach = std::visit([](const auto& x) { return reach_of(x); }, features);
  all_reduce_max(communicator, reach);
  const std::size_t columns = reach.size() / 2;
  ColumnList constant;
  for (std::size_t j = 0; j < columns; ++j) {
    if (-reach[j] == reach[columns + j]) constant.push_back(static_cast<Index>(j));
  }
  return constant;
}

// The features that are combinations of the intercept and the features before them, to rounding: those that leave no
// pivot in a Cholesky factor of the Gram matrix. Collective.
template <class Scalar>
ColumnList collinear_columns(const linear::Problem<Scalar>& problem, bool intercept) {
  const Index p = problem.features();
  const double size = static_cast<double>(p) * static_cast<double>(p) * static_cast<double>(problem.rows());
  if (p > kMostColumns || size > kMostMultiplications) return {};
  Eigen::MatrixXd left = std::visit(
      [&](const auto& matrix) {
        return linear::gram(matrix, problem.row_weights(), problem.pool(), problem.communicator());
      },
      problem.matrix());
  const Eigen::VectorXd squares = left.diagonal();
  std::vector<Index> order(static_cast<std::size_t>(p));
  std::iota(order.begin(), order.end(), Index{0});
  if (intercept) std::rotate(order.begin(), order.end() - 1, order.end());
  ColumnList dependent;
  for (const Index j : order) {
    if (!(squares[j] > 0)) continue;  // constant
    if (!(left(j, j) > kDependent * squares[j])) {
      dependent.push_back(j);
    } else {
      const Eigen::VectorXd column = left.col(j) / std::sqrt(left(j, j));
      left.noalias() -= column * column.transpose();
    }
  }
  return dependent;
}

std::string weights_of_collinear(const linear::Penalty& penalty) {
  if (penalty.l2 > 0 || !penalty.tikhonov.empty()) return "the penalty shares the weight out among them";
  return penalty.l1 > 0 ? "the L1 penalty takes some of them, and others would do as well"
                        : "their weights are one choice of many; --l2 makes it unique";
}

// The largest parts of the weights, as a direction of length 1 in the scaled columns.
std::string direction_of(const linear::Model& model) {
  const Index features = model.scaler.features();
  const Eigen::VectorXd norms =
      model.weights.topRows(features).rowwise().norm() / model.weights.topRows(features).norm();
  std::vector<Index> order(static_cast<std::size_t>(features));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return norms[a] > norms[b]; });
  order.resize(std::min(order.size(), kNamesShown));
  std::vector<std::string> parts;
  for (const Index j : order) {
    const double part = model.weights.cols() == 1 ? std::copysign(norms[j], model.weights(j, 0)) : norms[j];
    parts.push_back(fmt::format("{:.2g} \"{}\"", part, printable(model.feature_names[static_cast<std::size_t>(j)])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

template <class Scalar>
std::vector<std::string> design_remarks(const linear::Problem<Scalar>& problem, const Prepared& prepared,
                                        const FitResult& result) {
  std::vector<std::string> remarks;
  const bool intercept = prepared.scaler.intercept;
  const ColumnList constant = constant_columns(prepared.train.features, problem.communicator());
  if (!constant.empty() && intercept) {
    remarks.push_back(fmt::format("constant: {} says nothing that the intercept does not; leave it out",
                                  quoted_names(constant, prepared.train)));
  }
  ColumnList collinear = collinear_columns(problem, intercept);
  // The levels of a category add up to 1, and a gap is a gap in several columns at once: nothing to look into.
  const std::vector<bool>& indicators = prepared.train.indicators;
  std::erase_if(collinear, [&](Index j) {
    return std::binary_search(constant.begin(), constant.end(), j) ||
           (!indicators.empty() && indicators[static_cast<std::size_t>(j)]);
  });
  if (!collinear.empty()) {
    remarks.push_back(fmt::format(
        "collinear: {} {}; {}", quoted_names(collinear, prepared.train),
        collinear.size() == 1 ? "follows from the columns before it" : "follow from the columns before them",
        weights_of_collinear(prepared.setup.penalty)));
  } else if (result.condition > kIllConditioned && result.stop != linear::Stop::separable) {
    remarks.push_back(
        fmt::format("ill-conditioned: the Hessian has condition number {:.2g}, so that some weights are "
                    "known to few digits; a larger --l2 helps",
                    result.condition));
  }
  if (result.stop == linear::Stop::separable) {
    remarks.push_back(fmt::format("separated by the direction {} (of length 1 in the scaled columns, largest parts)",
                                  direction_of(result.model)));
  }
  return remarks;
}

template std::vector<std::string> design_remarks(const linear::Problem<float>&, const Prepared&, const FitResult&);
template std::vector<std::string> design_remarks(const linear::Problem<double>&, const Prepared&, const FitResult&);

}  // namespace lipschitzlr::run

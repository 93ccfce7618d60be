#include "lipschitzlr/data/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

const std::vector<bool> kNoIndicators;

template <class Scalar>
DenseMatrix<double> take(const DenseView<Scalar>& matrix, const std::vector<Index>& rows) {
  return matrix(rows, Eigen::all).template cast<double>();
}

template <class Scalar>
SparseMatrix<double> take(const SparseView<Scalar>& matrix, const std::vector<Index>& rows) {
  SparseMatrix<double> taken(static_cast<Index>(rows.size()), matrix.cols());
  std::vector<int> sizes;
  sizes.reserve(rows.size());
  for (Index row : rows) sizes.push_back(matrix.outerIndexPtr()[row + 1] - matrix.outerIndexPtr()[row]);
  taken.reserve(sizes);
  for (Index i = 0; i < taken.rows(); ++i) {
    for (typename SparseView<Scalar>::InnerIterator cell(matrix, rows[static_cast<std::size_t>(i)]); cell; ++cell) {
      taken.insert(i, cell.col()) = static_cast<double>(cell.value());
    }
  }
  taken.makeCompressed();
  return taken;
}

StreamedRows<double> take(const StreamedRows<double>& features, const std::vector<Index>& rows) {
  return features.take(rows);
}

// Ascending; stops growing past limit, which is all the callers want to know.
std::vector<double> distinct_values(const Vector<double>& target, std::size_t limit, Communicator* communicator) {
  std::set<double> seen;
  for (double value : target) {
    seen.insert(value);
    if (seen.size() > limit) break;
  }
  if (communicator != nullptr) {
    for (const double value : all_gather(communicator, {seen.begin(), seen.end()})) seen.insert(value);
  }
  return {seen.begin(), seen.end()};
}

}  // namespace

DenseView<double> view_of(const DenseMatrix<double>& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

SparseView<double> view_of(const SparseMatrix<double>& matrix) {
  return {matrix.rows(),          matrix.cols(),     matrix.nonZeros(),       matrix.outerIndexPtr(),
          matrix.innerIndexPtr(), matrix.valuePtr(), matrix.innerNonZeroPtr()};
}

StreamedRows<double> view_of(const StreamedRows<double>& rows) { return rows; }

FeatureView view_of(const Features& features) {
  return std::visit([](const auto& matrix) { return FeatureView(view_of(matrix)); }, features);
}

Index rows(const Features& features) {
  return std::visit([](const auto& matrix) { return Index{matrix.rows()}; }, features);
}

Index columns(const Features& features) {
  return std::visit([](const auto& matrix) { return Index{matrix.cols()}; }, features);
}

DenseMatrix<double> to_dense(const Features& features) {
  if (const auto* streamed = std::get_if<StreamedRows<double>>(&features)) return streamed->dense();
  if (const auto* sparse = std::get_if<SparseMatrix<double>>(&features)) return *sparse;
  return std::get<DenseMatrix<double>>(features);
}

Index rows(const FeatureView& features) {
  return std::visit([](const auto& view) { return Index{view.rows()}; }, features);
}

Index columns(const FeatureView& features) {
  return std::visit([](const auto& view) { return Index{view.cols()}; }, features);
}

bool is_dense(const FeatureView& features) {
  return std::holds_alternative<DenseView<double>>(features) || std::holds_alternative<DenseView<float>>(features) ||
         is_streamed(features);
}

bool is_streamed(const FeatureView& features) { return std::holds_alternative<StreamedRows<double>>(features); }

double stored_in(const FeatureView& features) {
  if (const auto* sparse = std::get_if<SparseView<double>>(&features)) return static_cast<double>(sparse->nonZeros());
  if (const auto* sparse = std::get_if<SparseView<float>>(&features)) return static_cast<double>(sparse->nonZeros());
  return static_cast<double>(rows(features)) * static_cast<double>(columns(features));
}

TableView::TableView(const Table& table)
    : features(view_of(table.features)),
      target(table.target.data(), table.target.size()),
      labels(table.labels),
      feature_names(table.feature_names),
      indicators(table.indicators) {}

TableView::TableView(FeatureView rows, Eigen::Map<const Vector<double>> targets,
                     const std::vector<std::string>& classes, const std::vector<std::string>& names)
    : features(std::move(rows)), target(targets), labels(classes), feature_names(names), indicators(kNoIndicators) {}

Features take_rows(const FeatureView& features, const std::vector<Index>& rows) {
  return std::visit([&](const auto& view) { return Features(take(view, rows)); }, features);
}

Table take_rows(const Table& table, const std::vector<Index>& rows) {
  Table taken;
  taken.features = take_rows(view_of(table.features), rows);
  taken.feature_names = table.feature_names;
  taken.has_names = table.has_names;
  if (table.target.size() > 0) taken.target = table.target(rows);
  taken.labels = table.labels;
  taken.target_name = table.target_name;
  taken.target_column = table.target_column;
  taken.remarks = table.remarks;
  taken.raw_columns = table.raw_columns;
  taken.places = table.places;
  taken.width = table.width;
  taken.indicators = table.indicators;
  return taken;
}

void take_columns(Table& table, const std::vector<Index>& columns) {
  if (const auto* streamed = std::get_if<StreamedRows<double>>(&table.features)) {
    table.features = streamed->take_columns(columns);
    return;
  }
  auto& dense = std::get<DenseMatrix<double>>(table.features);
  dense = DenseMatrix<double>(dense(Eigen::all, columns));
}

void make_classes(Table& table, Communicator* communicator) {
  const std::vector<double> values =
      distinct_values(table.target, static_cast<std::size_t>(table.target.size()), communicator);
  if (!values.empty() && std::max(-values.front(), values.back()) >= kLargestExactNumber) {
    throw Error(Fault::data, fmt::format("the target \"{}\" has whole numbers above 2^53, which can't be told apart as "
                                         "numbers: put a letter in front of each to make them classes",
                                         table.target_name));
  }
  for (double& value : table.target) {
    value = static_cast<double>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
  }
  table.labels.clear();
  for (double value : values) table.labels.push_back(fmt::format("{}", value));
}

bool looks_like_classes(const Table& table, Communicator* communicator) {
  const std::vector<double> values = distinct_values(table.target, kMostNumberedClasses, communicator);
  const auto whole = [](double value) { return value == std::floor(value); };
  const std::size_t enough = values.size() == 2 ? 3 : 3 * values.size();
  const double rows = all_reduce_sum(communicator, static_cast<double>(table.target.size()));
  const bool repeated = rows >= static_cast<double>(enough);
  return values.size() >= 2 && values.size() <= kMostNumberedClasses && repeated &&
         std::all_of(values.begin(), values.end(), whole);
}

}  // namespace lipschitzlr::data

#include "lipschitzlr/data/table/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

template <class Scalar>
DenseMatrix<Scalar> take(const DenseMatrix<Scalar>& matrix, const std::vector<Index>& rows) {
  return matrix(rows, Eigen::all);
}

template <class Scalar>
SparseMatrix<Scalar> take(const SparseMatrix<Scalar>& matrix, const std::vector<Index>& rows) {
  SparseMatrix<Scalar> taken(static_cast<Index>(rows.size()), matrix.cols());
  std::vector<int> sizes;
  sizes.reserve(rows.size());
  for (Index row : rows) sizes.push_back(matrix.outerIndexPtr()[row + 1] - matrix.outerIndexPtr()[row]);
  taken.reserve(sizes);
  for (Index i = 0; i < taken.rows(); ++i) {
    for (typename SparseMatrix<Scalar>::InnerIterator cell(matrix, rows[static_cast<std::size_t>(i)]); cell; ++cell) {
      taken.insert(i, cell.col()) = cell.value();
    }
  }
  taken.makeCompressed();
  return taken;
}

// Ascending; stops growing past limit, which is all the callers want to know.
std::vector<double> distinct_values(const Vector<double>& target, std::size_t limit) {
  std::set<double> seen;
  for (double value : target) {
    seen.insert(value);
    if (seen.size() > limit) break;
  }
  return {seen.begin(), seen.end()};
}

}  // namespace

DenseView<double> view_of(const DenseMatrix<double>& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

SparseView<double> view_of(const SparseMatrix<double>& matrix) {
  return {matrix.rows(),          matrix.cols(),     matrix.nonZeros(),       matrix.outerIndexPtr(),
          matrix.innerIndexPtr(), matrix.valuePtr(), matrix.innerNonZeroPtr()};
}

FeatureView view_of(const Features& features) {
  return std::visit([](const auto& matrix) { return FeatureView(view_of(matrix)); }, features);
}

Index rows(const Features& features) {
  return std::visit([](const auto& matrix) { return Index{matrix.rows()}; }, features);
}

Index columns(const Features& features) {
  return std::visit([](const auto& matrix) { return Index{matrix.cols()}; }, features);
}

Table take_rows(const Table& table, const std::vector<Index>& rows) {
  Table taken;
  taken.features = std::visit([&](const auto& matrix) { return Features(take(matrix, rows)); }, table.features);
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

void make_classes(Table& table) {
  const std::vector<double> values = distinct_values(table.target, static_cast<std::size_t>(table.target.size()));
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

bool looks_like_classes(const Table& table) {
  const std::vector<double> values = distinct_values(table.target, kMostNumberedClasses);
  const auto whole = [](double value) { return value == std::floor(value); };
  const std::size_t enough = values.size() == 2 ? 3 : 3 * values.size();
  const bool repeated = static_cast<std::size_t>(table.target.size()) >= enough;
  return values.size() >= 2 && values.size() <= kMostNumberedClasses && repeated &&
         std::all_of(values.begin(), values.end(), whole);
}

}  // namespace lipschitzlr::data

#include "lipschitzlr/run/row_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.hpp"
#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/row_weights.hpp"

namespace lipschitzlr::run {
namespace {

[[noreturn]] void refuse_class_weight(const std::string& text, const std::string& why) {
  throw Error(Fault::usage, fmt::format("--class-weight {}: {}", text, why));
}

}  // namespace

Vector<double> take_weights(data::Table& table, const std::string& column, Communicator* communicator) {
  const auto* const dense = std::get_if<DenseMatrix<double>>(&table.features);
  const auto* const streamed = std::get_if<StreamedRows<double>>(&table.features);
  const bool has_columns = dense != nullptr || streamed != nullptr;
  const auto name = std::find(table.feature_names.begin(), table.feature_names.end(), column);
  if (!has_columns || name == table.feature_names.end()) {
    throw Error(Fault::usage, fmt::format("--weight {}: the table has no such column beside the target{}", column,
                                          has_columns ? "" : "; a LIBSVM file has no column of weights"));
  }
  const Index place = name - table.feature_names.begin();
  Vector<double> weights = dense != nullptr ? Vector<double>(dense->col(place)) : streamed->col(place);
  const auto raw = table.raw_columns.begin() + (table.raw_columns.empty() ? 0 : place);
  const bool has_gaps = all_reduce_max(communicator, weights.hasNaN() ? 1.0 : 0.0) > 0;
  if (!table.raw_columns.empty() && (raw->kind != data::ColumnKind::number || has_gaps)) {
    throw Error(Fault::data, fmt::format("--weight {}: every row needs a number there", column));
  }
  const double least = -all_reduce_max(communicator, weights.size() > 0 ? -weights.minCoeff() : -INFINITY);
  const double most = all_reduce_max(communicator, weights.size() > 0 ? weights.maxCoeff() : -INFINITY);
  if (least < 0 || most == 0) {
    throw Error(Fault::data, fmt::format("--weight {}: weights must be 0 or more, and not all of them 0", column));
  }
  std::vector<Index> others(static_cast<std::size_t>(table.columns() - 1));
  std::iota(others.begin(), others.end(), Index{0});
  for (Index& other : others) other += other >= place ? 1 : 0;
  data::take_columns(table, others);
  table.feature_names.erase(name);
  if (!table.raw_columns.empty()) table.raw_columns.erase(raw);
  if (!table.places.empty()) {
    const Index taken = table.places[static_cast<std::size_t>(place)];
    table.places.erase(table.places.begin() + place);
    for (Index& other : table.places) other -= other > taken ? 1 : 0;
    --table.width;
  }
  return weights;
}

std::vector<double> class_weights(const data::Table& table, const std::string& text, Communicator* communicator) {
  if (!table.is_classified()) refuse_class_weight(text, "the target is a number and has no classes; --weight may help");
  if (text == "balanced") {
    const std::vector<double> targets = all_gather(communicator, {table.target.begin(), table.target.end()});
    return linear::balanced_class_weights(
        Eigen::Map<const Vector<double>>(targets.data(), static_cast<Index>(targets.size())),
        static_cast<Index>(table.labels.size()));
  }
  std::vector<double> weights(table.labels.size(), -1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const std::size_t sign = std::min(entry.rfind('='), entry.size());
    const auto number = number_from(std::string_view(entry).substr(std::min(sign + 1, entry.size())));
    const auto label = std::find(table.labels.begin(), table.labels.end(), entry.substr(0, sign));
    if (!number || !(*number > 0)) {
      refuse_class_weight(text, "expected balanced, or a number above 0 for each class, as in A=2,B=1");
    }
    if (label == table.labels.end()) {
      refuse_class_weight(text, fmt::format("there is no class \"{}\"; the classes are {}", entry.substr(0, sign),
                                            fmt::join(table.labels, ", ")));
    }
    double& weight = weights[static_cast<std::size_t>(label - table.labels.begin())];
    if (weight != -1) refuse_class_weight(text, fmt::format("the class \"{}\" stands there twice", *label));
    weight = *number;
    begin = end + 1;
  }
  const auto missing = std::find(weights.begin(), weights.end(), -1);
  if (missing != weights.end()) {
    const auto place = static_cast<std::size_t>(missing - weights.begin());
    refuse_class_weight(text, fmt::format("the class \"{}\" has no weight; name every class", table.labels[place]));
  }
  return weights;
}

}  // namespace lipschitzlr::run

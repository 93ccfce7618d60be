#include "lipschitzlr/run/rows_for_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/prepare.hpp"

namespace lipschitzlr::run {
namespace {

std::vector<Index> find_columns(const linear::Model& model, const data::Table& table,
                                std::vector<std::string>& missing) {
  std::vector<Index> places;
  for (const std::string& name : model.feature_names) {
    const auto found = std::find(table.feature_names.begin(), table.feature_names.end(), name);
    if (found == table.feature_names.end()) {
      missing.push_back(name);
    } else {
      places.push_back(found - table.feature_names.begin());
    }
  }
  return places;
}

// A sparse table has no names, and neither has a file without a header: then the places must do.
void align_columns(const linear::Model& model, data::Table& table, const std::string& source) {
  auto* dense = std::get_if<DenseMatrix<double>>(&table.features);
  if (dense == nullptr || table.feature_names == model.feature_names) return;
  std::vector<std::string> missing;
  const std::vector<Index> places = find_columns(model, table, missing);
  if (missing.empty()) {
    *dense = DenseMatrix<double>((*dense)(Eigen::all, places));
    table.feature_names = model.feature_names;
    return;
  }
  const bool has_names = missing.size() < model.feature_names.size();
  if (!has_names && static_cast<std::size_t>(dense->cols()) == model.feature_names.size()) return;
  throw Error(Fault::data, fmt::format("{}: the model needs {} features, but the column \"{}\"{} is missing", source,
                                       model.feature_names.size(), missing.front(),
                                       missing.size() > 1 ? fmt::format(" (and {} more)", missing.size() - 1) : ""));
}

// A model of classes with a text among them was fitted on labels as they stand in the file; one of numbers only was
// not.
bool has_text_label(const linear::Model& model) {
  return std::any_of(model.labels.begin(), model.labels.end(),
                     [](const std::string& label) { return !number_from(label); });
}

void match_labels(const linear::Model& model, data::Table& table, const std::string& source) {
  if (model.labels.empty()) {
    if (!table.is_classified()) return;
    throw Error(Fault::data, fmt::format("{}: the model predicts numbers, but the target \"{}\" has classes", source,
                                         table.target_name));
  }
  if (!table.is_classified()) data::make_classes(table);
  std::vector<double> index_of;
  for (const std::string& label : table.labels) {
    const auto found = std::find(model.labels.begin(), model.labels.end(), label);
    if (found == model.labels.end()) {
      throw Error(Fault::data, fmt::format("{}: the class \"{}\" is unknown to the model", source, label));
    }
    index_of.push_back(static_cast<double>(found - model.labels.begin()));
  }
  for (double& target : table.target) target = index_of[static_cast<std::size_t>(target)];
  table.labels = model.labels;
}

}  // namespace

data::Table load_rows(const linear::Model& model, const std::string& source, data::ReadOptions options, Target target) {
  options.columns = static_cast<Index>(model.feature_names.size());
  if (!options.target) {
    options.target = model.target_name;
    options.target_may_be_missing = true;
    options.target_column = model.target_column;
  }
  options.target_is_classes = has_text_label(model);
  data::Table table = load_table(source, options);
  if (target == Target::required && table.target.size() == 0) {
    throw Error(Fault::data,
                fmt::format("{}: the target \"{}\" is missing; name it with --target", source, model.target_name));
  }
  align_columns(model, table, source);
  if (target == Target::required) match_labels(model, table, source);
  return table;
}

}  // namespace lipschitzlr::run

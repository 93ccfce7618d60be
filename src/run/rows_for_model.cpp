#include "lipschitzlr/run/rows_for_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/run/prepare.hpp"

namespace lipschitzlr::run {
namespace {

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) list += (i > 0 ? ", " : "") + in_quotes(names[i]);
  return names.size() > kShown ? fmt::format("{} and {} more", list, names.size() - kShown) : list;
}

// "the model has "a", "b"; the rows have 2 columns without names"
std::string both_lists(const linear::Model& model, const data::Table& table) {
  const auto described = [](const std::vector<std::string>& names, bool has_names) {
    return has_names ? list_of(names) : counted(names.size(), "column") + " without names";
  };
  return fmt::format("the model has {}; the rows have {}", described(model.feature_names, model.has_names),
                     described(table.feature_names, table.has_names));
}

void select_by_name(const linear::Model& model, data::Table& table, const std::string& source) {
  std::vector<Index> places;
  std::vector<std::string> missing;
  for (const std::string& name : model.feature_names) {
    const auto found = std::find(table.feature_names.begin(), table.feature_names.end(), name);
    if (found == table.feature_names.end()) missing.push_back(name);
    places.push_back(found - table.feature_names.begin());
  }
  if (!missing.empty()) {
    throw Error(Fault::data,
                fmt::format("{}: the column {}{} is missing: {}; rename the columns, or use them in their order with "
                            "--by-position",
                            source, in_quotes(missing.front()),
                            missing.size() > 1 ? fmt::format(" (and {} more)", missing.size() - 1) : "",
                            both_lists(model, table)));
  }
  auto& dense = std::get<DenseMatrix<double>>(table.features);
  dense = DenseMatrix<double>(dense(Eigen::all, places));
  table.feature_names = model.feature_names;
}

// Numbers in another order than the model's are predicted without a word, so positions count only where neither side
// has names, or where they are asked for.
void align_columns(const linear::Model& model, data::Table& table, const std::string& source, Columns columns) {
  if (columns == Columns::by_name && model.has_names && table.has_names) {
    if (table.feature_names != model.feature_names) select_by_name(model, table, source);
    return;
  }
  if (columns == Columns::by_name && model.has_names != table.has_names) {
    throw Error(Fault::data, fmt::format("{}: columns can't be matched by name: {}; use them in their order with "
                                         "--by-position",
                                         source, both_lists(model, table)));
  }
  if (table.feature_names.size() == model.feature_names.size()) return;
  throw Error(Fault::data,
              fmt::format("{}: expected {}, found {}: {}", source, counted(model.feature_names.size(), "feature"),
                          table.feature_names.size(), both_lists(model, table)));
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

data::Table load_rows(const linear::Model& model, const std::string& source, data::ReadOptions options, Target target,
                      Columns columns) {
  options.columns = static_cast<Index>(model.feature_names.size());
  options.first_index = !model.has_names && model.feature_names.front() == "x0" ? 0 : 1;
  if (!options.target) {
    options.target = model.target_name;
    options.target_may_be_missing = true;
    options.target_column = model.target_column;
  }
  options.target_is_classes = has_text_label(model);
  options.ignores_target = target == Target::ignored;
  data::Table table = load_table(source, options);
  if (target == Target::required && table.target.size() == 0) {
    throw Error(Fault::data,
                fmt::format("{}: the target \"{}\" is missing; name it with --target", source, model.target_name));
  }
  align_columns(model, table, source, columns);
  if (target == Target::required) match_labels(model, table, source);
  return table;
}

}  // namespace lipschitzlr::run

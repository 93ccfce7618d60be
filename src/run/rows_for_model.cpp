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
std::string both_lists(const linear::TableModel& model, const data::Table& table) {
  const auto described = [](const std::vector<std::string>& names, bool has_names) {
    return has_names ? list_of(names) : counted(names.size(), "column") + " without names";
  };
  return fmt::format("the model has {}; the rows have {}", described(model.feature_names, model.has_names),
                     described(table.feature_names, table.has_names));
}

void select_by_name(const linear::TableModel& model, data::Table& table, const std::string& source) {
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
  data::take_columns(table, places);
  table.feature_names = model.feature_names;
}

// Numbers in another order than the model's are predicted without a word, so positions count only where neither side
// has names, or where they are asked for.
void align_columns(const linear::TableModel& model, data::Table& table, const std::string& source, Columns columns) {
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

bool is_dense(const data::Table& table) { return !std::holds_alternative<SparseMatrix<double>>(table.features); }

bool goes_by_place(const linear::TableModel& model, Columns columns) {
  return columns == Columns::by_position || !model.has_names;
}

// The places of the model's columns in the table.
data::ColumnPlaces find_columns(const linear::TableModel& model, data::Table& table, const std::string& source,
                                Columns columns) {
  const data::Encoder& encoder = model.encoder;
  const bool by_place = goes_by_place(model, columns);
  data::ColumnPlaces places;
  if (by_place && table.columns() == encoder.width && (columns == Columns::by_position || !table.has_names)) {
    for (const data::EncodedColumn& column : encoder.columns) places.push_back(column.place);
    return places;
  }
  if (!by_place && table.has_names) {
    places = encoder.places_in(table);
    if (std::any_of(places.begin(), places.end(), [](Index place) { return place >= 0; })) return places;
  }
  linear::TableModel file;  // with columns in place of features: these do not match
  file.has_names = model.has_names;
  file.feature_names.resize(by_place ? static_cast<std::size_t>(encoder.width) : 0, "a column left out");
  for (const data::EncodedColumn& column : encoder.columns) {
    if (!by_place) file.feature_names.emplace_back();
    (by_place ? file.feature_names[static_cast<std::size_t>(column.place)] : file.feature_names.back()) = column.name;
  }
  align_columns(file, table, source, columns);
  throw Error(Fault::data, fmt::format("{}: the columns don't match: {}", source, both_lists(file, table)));
}

// A model of classes with a text among them was fitted on labels as they stand in the file; one of numbers only was
// not.
bool has_text_label(const linear::TableModel& model) {
  return std::any_of(model.labels.begin(), model.labels.end(),
                     [](const std::string& label) { return !number_from(label); });
}

void match_labels(const linear::TableModel& model, data::Table& table, const std::string& source) {
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

data::Table load_rows(const linear::TableModel& model, const std::string& source, data::ReadOptions options,
                      Target target, Columns columns, Unknown unknown) {
  const data::Encoder& encoder = model.encoder;
  const bool by_place = goes_by_place(model, columns);
  options.columns = encoder.known() ? encoder.width : static_cast<Index>(model.feature_names.size());
  if (encoder.known()) {
    options.raw = true;
    options.refuses_gaps = encoder.missing == data::Missing::error;
    options.known = encoder.known_columns(by_place);
    options.known_by_place = by_place;
    options.only_known = !by_place;
  }
  options.first_index = !model.has_names && model.feature_names.front() == "x0" ? 0 : 1;
  if (!options.target) {
    options.target = model.target_name;
    options.target_may_be_missing = true;
    options.target_column = model.target_column;
  }
  options.target_is_classes = has_text_label(model);
  options.ignores_target = target == Target::ignored;
  data::Table table = load_table(source, options);
  const std::string shown = display_name(source);
  if (target == Target::required && table.target.size() == 0) {
    throw Error(Fault::data,
                fmt::format("{}: the target \"{}\" is missing; name it with --target", shown, model.target_name));
  }
  if (encoder.known() && is_dense(table)) {
    const data::ColumnPlaces places = find_columns(model, table, shown, columns);
    table = encoder.apply(std::move(table), places, shown, unknown == Unknown::error);
  } else {
    align_columns(model, table, shown, columns);
  }
  if (target == Target::required) match_labels(model, table, shown);
  return table;
}

}  // namespace lipschitzlr::run

#include "lipschitzlr/linear/table_model.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "linear/encoder_json.hpp"
#include "linear/table_model_json.hpp"

namespace lipschitzlr::linear {
namespace {

using nlohmann::json;

// Older model files do not say whether the names came from a header.
bool are_numbered(const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != fmt::format("x{}", i + 1)) return false;
  }
  return true;
}

bool are_different(const std::vector<std::string>& names) {
  return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

void check_labels(const TableModel& table, const ModelFields& fields) {
  const std::size_t labels = table.labels.size();
  switch (table.family) {
    case Family::linear:
      fields.expect(labels == 0, "a linear model has one output and no labels");
      break;
    case Family::logistic:
      fields.expect(labels == 2, "a logistic model has one output and two labels");
      break;
    case Family::softmax:
      fields.expect(labels >= 2, fmt::format("a softmax model has one output per label, here there are {}", labels));
      break;
  }
  fields.expect(are_different(table.labels), "a label stands there twice");
}

void check_scaling(const TableModel& table, const ModelFields& fields) {
  const data::Scaler& scaler = table.scaler;
  const auto columns = table.feature_names.size() + (scaler.intercept ? 1 : 0);
  fields.expect(scaler.offsets.size() == columns && scaler.factors.size() == columns,
                fmt::format("the scaling has {} offsets and {} factors for {} columns", scaler.offsets.size(),
                            scaler.factors.size(), columns));
}

data::Scaler read_scaler(const ModelFields& fields) {
  const auto scaling = fields.get<json>("scaling");
  fields.expect(scaling.is_object(), "the field \"scaling\" is not what a model has there");
  const ModelFields reader(scaling, fields.name());
  data::Scaler scaler;
  scaler.kind = data::scaling_from(reader.get<std::string>("kind"));
  scaler.offsets = reader.get<std::vector<double>>("offsets");
  scaler.factors = reader.get<std::vector<double>>("factors");
  scaler.intercept = fields.get<bool>("intercept");
  return scaler;
}

}  // namespace

json parse_model(const std::string& text, const std::string& name) {
  try {
    return parse_json(text, "");
  } catch (const Error& error) {
    throw Error(Fault::data, fmt::format("{}: not a usable model file: it {}", name, error.what()));
  }
}

json table_fields(const TableModel& table) {
  json object = {{"family", to_string(table.family)},
                 {"features", table.feature_names},
                 {"has_names", table.has_names},
                 {"target", table.target_name},
                 {"target_column", table.target_column},
                 {"labels", table.labels},
                 {"intercept", table.scaler.intercept},
                 {"scaling",
                  {{"kind", data::to_string(table.scaler.kind)},
                   {"offsets", table.scaler.offsets},
                   {"factors", table.scaler.factors}}}};
  if (table.encoder.known()) object["columns"] = encoder_json(table.encoder);
  return object;
}

TableModel read_table_fields(const ModelFields& fields) {
  TableModel table;
  try {
    table.family = family_from(fields.get<std::string>("family"));
    table.scaler = read_scaler(fields);
  } catch (const Error& error) {
    if (error.fault() == Fault::data) throw;
    fields.fail(error.what());
  }
  table.feature_names = fields.get<std::vector<std::string>>("features");
  table.has_names = fields.has("has_names") ? fields.get<bool>("has_names") : !are_numbered(table.feature_names);
  table.target_name = fields.get<std::string>("target");
  table.target_column = fields.get<Index>("target_column");
  table.labels = fields.get<std::vector<std::string>>("labels");
  fields.expect(!table.feature_names.empty(), "it has no features");
  check_scaling(table, fields);
  check_labels(table, fields);
  fields.expect(are_different(table.feature_names), "a feature has the name of another one");
  return table;
}

data::Encoder read_columns(const ModelFields& fields, const TableModel& table) {
  const auto columns = fields.get<json>("columns");
  try {
    return encoder_from(columns, table.feature_names);
  } catch (const Error& error) {
    fields.fail(error.what());
  }
}

TableModel table_model(Family family, const data::Table& training, data::Scaler scaler, data::Encoder encoder) {
  return {family,          training.feature_names, training.has_names, training.target_name, training.target_column,
          training.labels, std::move(scaler),      std::move(encoder)};
}

std::string table_to_json(const TableModel& table) {
  return table_fields(table).dump(1, ' ', false, json::error_handler_t::replace);
}

TableModel table_from_json(const std::string& text, const std::string& name) {
  const json object = parse_model(text, name);
  const ModelFields fields(object, name);
  fields.expect(object.is_object(), "its table is no JSON object");
  TableModel table = read_table_fields(fields);
  if (fields.has("columns")) table.encoder = read_columns(fields, table);
  return table;
}

}  // namespace lipschitzlr::linear

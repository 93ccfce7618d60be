#include "linear/encoder_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::linear {
namespace {

using data::EncodedColumn, data::Encoder, data::Levels;
using nlohmann::json;

constexpr std::array<const char*, 4> kKinds = {"number", "boolean", "category", "date"};
constexpr std::array<const char*, 4> kMissing = {"mean", "median", "drop", "error"};

void expect_column(bool holds) {
  if (!holds) throw Error(Fault::data, "the field \"columns\" is not what a model has there");
}

json levels_json(const Levels& levels) { return {{"names", levels.names}, {"reference", levels.reference}}; }

// 1.5 would become a whole number without a word.
Index whole(const json& number) {
  expect_column(number.is_number_integer());
  return number.get<Index>();
}

template <class Enum>
Enum named(const json& name, const std::array<const char*, 4>& names) {
  const auto found = std::find(names.begin(), names.end(), name.get<std::string>());
  expect_column(found != names.end());
  return static_cast<Enum>(found - names.begin());
}

Levels levels_from(const json& object, const char* field, bool wanted) {
  if (!object.contains(field)) {
    expect_column(!wanted);
    return {};
  }
  Levels levels{object[field].at("names").get<std::vector<std::string>>(), whole(object[field].at("reference"))};
  const auto count = static_cast<Index>(levels.names.size());
  expect_column(wanted && count > 0 && levels.reference >= -1 && levels.reference < count);
  std::vector<std::string> sorted = levels.names;
  std::sort(sorted.begin(), sorted.end());
  expect_column(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  return levels;
}

EncodedColumn column_from(const json& object, Index width) {
  EncodedColumn column;
  column.name = object.at("name").get<std::string>();
  column.place = whole(object.at("place"));
  column.kind = named<EncodedColumn::Kind>(object.at("kind"), kKinds);
  column.fill = object.value("fill", 0.0);
  column.marks_gaps = object.value("marks_gaps", false);
  column.exact = object.value("exact", false);
  column.has_other = object.value("has_other", false);
  const bool is_date = column.kind == EncodedColumn::Kind::date,
             is_category = column.kind == EncodedColumn::Kind::category;
  column.levels = levels_from(object, "levels", is_category);
  column.months = levels_from(object, "months", is_date);
  column.weekdays = levels_from(object, "weekdays", is_date);
  expect_column(std::isfinite(column.fill) && column.place >= 0 && column.place < width);
  expect_column(is_category || !(column.has_other || column.exact));
  return column;
}

}  // namespace

json encoder_json(const Encoder& encoder) {
  json list = json::array();
  for (const EncodedColumn& column : encoder.columns) {
    json object = {
        {"name", column.name}, {"place", column.place}, {"kind", kKinds[static_cast<std::size_t>(column.kind)]}};
    if (column.kind != EncodedColumn::Kind::category) object["fill"] = column.fill;
    if (column.marks_gaps) object["marks_gaps"] = true;
    if (column.exact) object["exact"] = true;
    if (column.has_other) object["has_other"] = true;
    if (column.kind == EncodedColumn::Kind::category) object["levels"] = levels_json(column.levels);
    if (column.kind == EncodedColumn::Kind::date) {
      object["months"] = levels_json(column.months);
      object["weekdays"] = levels_json(column.weekdays);
    }
    list.push_back(std::move(object));
  }
  return {{"missing", kMissing[static_cast<std::size_t>(encoder.missing)]},
          {"width", encoder.width},
          {"sparse", encoder.sparse},
          {"list", std::move(list)}};
}

Encoder encoder_from(const json& object, const std::vector<std::string>& feature_names) {
  Encoder encoder;
  try {
    encoder.missing = named<data::Missing>(object.at("missing"), kMissing);
    encoder.width = whole(object.at("width"));
    encoder.sparse = object.at("sparse").get<bool>();
    expect_column(encoder.width > 0 && encoder.width <= data::kMostColumns && object.at("list").is_array());
    for (const json& one : object.at("list")) encoder.columns.push_back(column_from(one, encoder.width));
  } catch (const json::exception&) {
    expect_column(false);
  }
  std::unordered_set<std::string> names;
  for (const EncodedColumn& column : encoder.columns) expect_column(names.insert(column.name).second);
  const std::vector<Encoder::Feature> features = encoder.features();
  const bool same =
      std::equal(features.begin(), features.end(), feature_names.begin(), feature_names.end(),
                 [](const Encoder::Feature& feature, const std::string& name) { return feature.name == name; });
  if (!same) throw Error(Fault::data, "its columns do not make its features");
  return encoder;
}

}  // namespace lipschitzlr::linear

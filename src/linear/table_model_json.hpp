#pragma once
// A TableModel as fields of a JSON object, which a model file shares with what else is in it.

#include <fmt/format.h>

#include <string>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/table_model.hpp"

namespace lipschitzlr::linear {

// Reads fields of a model file; whatever is missing or of another kind becomes a sentence that names file and field.
class ModelFields {
 public:
  ModelFields(const nlohmann::json& object, std::string name) : object_(object), name_(std::move(name)) {}

  template <class Value>
  Value get(const char* field) const {
    const auto found = object_.find(field);
    if (found == object_.end()) fail(fmt::format("the field \"{}\" is missing", field));
    try {
      // true or 1.5 would become a whole number without a word.
      const bool whole = std::is_integral_v<Value> && !std::is_same_v<Value, bool>;
      if (!whole || found->is_number_integer()) return found->get<Value>();
    } catch (const nlohmann::json::exception&) {
    }
    fail(fmt::format("the field \"{}\" is not what a model has there", field));
  }
  bool has(const char* field) const { return object_.contains(field); }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(Fault::data, fmt::format("{}: not a usable model file: {}", name_, reason));
  }
  void expect(bool holds, const std::string& reason) const {
    if (!holds) fail(reason);
  }
  const std::string& name() const { return name_; }

 private:
  const nlohmann::json& object_;
  std::string name_;
};

// An object; errors say that it is not one.
nlohmann::json parse_model(const std::string& text, const std::string& name);

nlohmann::json table_fields(const TableModel& table);
// All but the columns, and the columns, which files of the first version lack.
TableModel read_table_fields(const ModelFields& fields);
data::Encoder read_columns(const ModelFields& fields, const TableModel& table);

}  // namespace lipschitzlr::linear

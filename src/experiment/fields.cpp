#include "experiment/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::experiment {

Fields::Fields(const nlohmann::json& object, std::string file, std::string place)
    : object_(object), file_(std::move(file)), place_(std::move(place)) {
  if (object_.is_object()) return;
  const std::string what = place_.empty() ? "the recipe" : place_.substr(0, place_.size() - 1);
  throw Error(Fault::data, fmt::format("{}: {} must be an object", file_, what));
}

void Fields::refuse(const std::string& name, const std::string& reason) const {
  throw Error(Fault::data, fmt::format("{}: {}{} {}", file_, place_, name, reason));
}

const nlohmann::json& Fields::value(const std::string& name) {
  asked_.insert(name);
  const auto found = object_.find(name);
  if (found == object_.end()) refuse(name, "is missing");
  return *found;
}

Fields Fields::object(const std::string& name) { return Fields(value(name), file_, place_ + name + "."); }

std::string Fields::text(const std::string& name) {
  const nlohmann::json& field = value(name);
  if (!field.is_string() || field.get_ref<const std::string&>().empty()) refuse(name, "must be a text, not empty");
  return field.get<std::string>();
}

double Fields::number(const std::string& name) {
  const nlohmann::json& field = value(name);
  if (!field.is_number() || !std::isfinite(field.get<double>())) refuse(name, "must be a number");
  return field.get<double>();
}

double Fields::positive(const std::string& name) {
  const double number_ = number(name);
  if (!(number_ > 0)) refuse(name, "must be above 0");
  return number_;
}

double Fields::percent(const std::string& name) {
  const double share = positive(name);
  if (share > 100) refuse(name, "is a share in percent and can't be above 100");
  return share;
}

std::int64_t Fields::count(const std::string& name) {
  const nlohmann::json& field = value(name);
  if (!field.is_number_integer() || field.get<std::int64_t>() < 1) refuse(name, "must be a whole number, 1 or more");
  return field.get<std::int64_t>();
}

bool Fields::flag(const std::string& name) {
  const nlohmann::json& field = value(name);
  if (!field.is_boolean()) refuse(name, "must be true or false");
  return field.get<bool>();
}

std::vector<std::string> Fields::texts(const std::string& name) {
  const nlohmann::json& field = value(name);
  const auto is_text = [](const nlohmann::json& item) { return item.is_string() && !item.get<std::string>().empty(); };
  if (!field.is_array() || !std::all_of(field.begin(), field.end(), is_text)) {
    refuse(name, "must be a list of texts, none empty");
  }
  return field.get<std::vector<std::string>>();
}

std::vector<double> Fields::numbers(const std::string& name) {
  const nlohmann::json& field = value(name);
  const auto is_number = [](const nlohmann::json& item) { return item.is_number(); };
  if (!field.is_array() || !std::all_of(field.begin(), field.end(), is_number)) {
    refuse(name, "must be a list of numbers");
  }
  return field.get<std::vector<double>>();
}

void Fields::finish() const {
  for (const auto& [name, ignored] : object_.items()) {
    if (!asked_.contains(name)) refuse(name, "is not a field of a recipe");
  }
}

}  // namespace lipschitzlr::experiment

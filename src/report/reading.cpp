#include "report/reading.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lipschitzlr::report {

using nlohmann::json;

Parsed parse(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return {nullptr, "is empty"};
  try {
    return {json::parse(text), ""};
  } catch (const json::parse_error& error) {
    return {nullptr, fmt::format("is no JSON from byte {} on", error.byte)};
  } catch (const json::exception&) {
    return {nullptr, "holds a number that is too large"};
  }
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number() ? fmt::format("{}", found->get<double>()) : "";
}

double number_of(const json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::int64_t whole_of(const json& object, const char* key) {
  const double number = number_of(object, key, 0);
  return std::abs(number) < 1e15 ? static_cast<std::int64_t>(number) : 0;
}

}  // namespace lipschitzlr::report

#include "report/reading.hpp"

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::report {

using nlohmann::json;

Parsed parse(std::string_view text) {
  try {
    return {parse_json(text, ""), ""};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

std::string text_of(const json& object, const char* key) { return text_or(object, key); }

double number_of(const json& object, const char* key, double otherwise) { return number_or(object, key, otherwise); }

std::int64_t whole_of(const json& object, const char* key) { return whole_or(object, key, 0); }

}  // namespace lipschitzlr::report

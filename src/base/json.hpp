#pragma once
// The one JSON reader: every file that may come from elsewhere is parsed here, with a limit on its nesting (copying and
// printing a value recurse) and with sentences of ours. The templates of nlohmann-json are instantiated in json.cpp
// only.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace lipschitzlr {

inline constexpr int kDeepestJson = 100;

// Throws Error (data): "WHAT: is not valid JSON (byte 17)"; an empty what is left out, with its colon.
nlohmann::json parse_json(std::string_view text, const std::string& what);
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what);

struct JsonField {
  std::string name;
  nlohmann::json value;  // a list or an object is an empty one
};

// The fields of an object as they stand there, also a name that stands there twice, which an object of nlohmann-json
// can't hold; empty when the text is no object. Reading ends behind the field number most.
std::vector<JsonField> parse_json_fields(std::string_view text, const std::string& what, std::size_t most);

// Fields of an object that may hold anything: one that is missing or of another type counts as not there.
double number_or(const nlohmann::json& object, const char* key, double otherwise);
std::int64_t whole_or(const nlohmann::json& object, const char* key, std::int64_t otherwise);
// A number is text too.
std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise = "");

}  // namespace lipschitzlr

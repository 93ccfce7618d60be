#pragma once
// JSON of files that may hold anything: a wrong type is the same as nothing, and what is not JSON has a reason.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lipschitzlr::report {

struct Parsed {
  nlohmann::json value;  // null when there is a fault
  std::string fault;     // "is empty", "is not valid JSON (byte 17)"
};
Parsed parse(std::string_view text);

// Numbers and words alike as text; empty when there is neither.
std::string text_of(const nlohmann::json& object, const char* key);
double number_of(const nlohmann::json& object, const char* key, double otherwise);
std::int64_t whole_of(const nlohmann::json& object, const char* key);  // 0 when there is none

}  // namespace lipschitzlr::report

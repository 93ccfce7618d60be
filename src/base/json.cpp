#include "base/json.hpp"

#include <fmt/format.h>

#include <cmath>

#include "lipschitzlr/base/error.hpp"

template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace lipschitzlr {
namespace {

// The brackets that are open at once, at most. What is not JSON may be counted wrongly: the parser refuses it anyway.
int nesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '"') quoted = !quoted;
    if (quoted) {
      i += letter == '\\';
    } else if (letter == '[' || letter == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (letter == ']' || letter == '}') {
      --depth;
    }
  }
  return deepest;
}

template <class Json>
Json parse(std::string_view text, const std::string& what) {
  std::string fault;
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    fault = "is empty";
  } else if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    fault = fmt::format("is not valid JSON (byte {})", zero + 1);  // nlohmann's parser would take it for the end
  } else if (nesting(text) > kDeepestJson) {
    fault = fmt::format("is nested more than {} deep", kDeepestJson);
  } else {
    try {
      return Json::parse(text);
    } catch (const typename Json::parse_error& error) {
      fault = fmt::format("is not valid JSON (byte {})", error.byte);
    } catch (const typename Json::exception&) {
      fault = "holds a number that is too large";
    }
  }
  throw Error(Fault::data, what.empty() ? fault : what + ": " + fault);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& what) { return parse<nlohmann::json>(text, what); }

nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what) {
  return parse<nlohmann::ordered_json>(text, what);
}

double number_or(const nlohmann::json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::int64_t whole_or(const nlohmann::json& object, const char* key, std::int64_t otherwise) {
  const double number = number_or(object, key, NAN);
  return std::abs(number) < 1e15 ? static_cast<std::int64_t>(number) : otherwise;
}

std::string text_or(const nlohmann::json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_string()) return found->get<std::string>();
  return found != object.end() && found->is_number() ? fmt::format("{}", found->get<double>()) : otherwise;
}

}  // namespace lipschitzlr

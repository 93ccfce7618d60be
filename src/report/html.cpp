#include "report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::report {

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        // Control characters are not allowed in HTML; folder names may hold any.
        result += static_cast<unsigned char>(letter) < ' ' && letter != '\n' && letter != '\t' ? ' ' : letter;
    }
  }
  return result;
}

std::string element(const std::string& tag, const Attributes& attributes, const std::string& content) {
  std::string result = "<" + tag;
  for (const auto& [name, value] : attributes) result += fmt::format(" {}=\"{}\"", name, escaped(value));
  return fmt::format("{}>{}</{}>", result, content, tag);
}

std::string json_for_script(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  return json;
}

std::string fill_template(std::string_view page, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string result;
  while (true) {
    const std::size_t begin = page.find("{{");
    result += page.substr(0, begin);
    if (begin == std::string_view::npos) return result;
    const std::size_t end = page.find("}}", begin);
    const std::string_view name = page.substr(begin + 2, end == std::string_view::npos ? end : end - begin - 2);
    const auto found =
        std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
    if (found == values.end()) throw Error(Fault::data, fmt::format("the page's template has no value for {}", name));
    result += found->second;
    page.remove_prefix(end + 2);
  }
}

}  // namespace lipschitzlr::report

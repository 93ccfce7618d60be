#pragma once
// Pieces of HTML that are safe by construction: text is escaped when it becomes HTML, and only here.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lipschitzlr::report {

// Text for between tags and inside quoted attributes.
std::string escaped(std::string_view text);

using Attributes = std::vector<std::pair<std::string, std::string>>;

// content is HTML already; the attributes' values are text.
std::string element(const std::string& tag, const Attributes& attributes, const std::string& content);

// JSON for inside a script element: no character of it can end the element or open a comment.
std::string json_for_script(std::string json);

// Replaces each {{name}} of the template by its value, once: a value is never looked into. A name without a value is an
// Error.
std::string fill_template(std::string_view page, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace lipschitzlr::report

#pragma once
// The charts of a document as JSON, for the page's script and for files.

#include <string>

#include "lipschitzlr/report/document.hpp"

namespace lipschitzlr::report {

// An array of charts; numbers to six digits, which is more than a screen shows.
std::string charts_json(const Document& document);

}  // namespace lipschitzlr::report

#pragma once
// A document written down. The page is whole in itself: style, script, the chart library and all data are in it, and it
// asks nothing of the network. Links to records are relative to the folder the page will lie in.

#include <string>

#include "lipschitzlr/report/document.hpp"

namespace lipschitzlr::report {

// folder: where the page will lie, for the links. Text of any origin is safe in it.
std::string to_html(const Document& document, const std::string& folder);

// Every figure a line: table,row,figure,value,verdict,record,command.
std::string to_csv(const Document& document);
std::string to_json(const Document& document);
std::string to_markdown(const Document& document);

// The address of a record as seen from a folder, for a link: percent-encoded, never taken for a scheme.
std::string relative_link(const std::string& path, const std::string& folder);

}  // namespace lipschitzlr::report

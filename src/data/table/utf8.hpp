#pragma once
// Whether bytes are text in UTF-8: names and labels end in JSON files, which can hold nothing else.

#include <string_view>

namespace lipschitzlr::data {

// Strict: no character in more bytes than it needs, no surrogate halves, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace lipschitzlr::data

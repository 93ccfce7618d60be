#include "data/table/read_error.hpp"

#include <fmt/format.h>

#include "data/table/utf8.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string shown = "\"";
  std::size_t length = std::min(text.size(), kLongest);
  // A UTF-8 character is shown whole or not at all.
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  const bool is_readable = is_utf8(text.substr(0, length));
  for (char c : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (byte > 0x7F && !is_readable)) {
      shown += fmt::format("\\x{:02X}", byte);
    } else {
      shown += c;
    }
  }
  return shown + (length < text.size() ? "...\"" : "\"");
}

void fail_in_file(const std::string& file, const std::string& what) {
  throw Error(Fault::data, fmt::format("{}: {}", file, what));
}

void fail_in_line(const std::string& file, std::int64_t line, const std::string& what) {
  throw Error(Fault::data, fmt::format("{}: line {}: {}", file, line, what));
}

void fail_in_column(const std::string& file, std::int64_t line, Index column, std::string_view column_name,
                    const std::string& what) {
  const std::string name = column_name.empty() ? "" : fmt::format(" ({})", in_quotes(column_name));
  throw Error(Fault::data, fmt::format("{}: line {}, column {}{}: {}", file, line, column, name, what));
}

}  // namespace lipschitzlr::data

#include "data/table/read_error.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {

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

#pragma once
// The sentences of errors about a file's content: "prices.csv: line 7, column 3 ("TAX"): expected a number, ...".

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::data {

[[noreturn]] void fail_in_file(const std::string& file, const std::string& what);
[[noreturn]] void fail_in_line(const std::string& file, std::int64_t line, const std::string& what);

// The column counts from 1: of cells in a CSV (with the header's name, if any), of characters in a LIBSVM file.
[[noreturn]] void fail_in_column(const std::string& file, std::int64_t line, Index column, std::string_view column_name,
                                 const std::string& what);

}  // namespace lipschitzlr::data

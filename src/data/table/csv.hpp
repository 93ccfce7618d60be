#pragma once
// CSV, TSV and blank-separated text into a dense table, in one pass and straight into the matrix.

#include <string>
#include <string_view>

#include "data/table/lines.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

// first_block holds the first lines, the rest is still to come. expected_size is the size of the text in bytes, if
// known, else 0: with it the matrix is allocated once.
Table read_csv(std::string_view first_block, LineBlocks& rest, std::uint64_t expected_size, const std::string& file,
               const ReadOptions& options);

}  // namespace lipschitzlr::data

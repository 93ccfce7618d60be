#pragma once
// CSV, TSV and blank-separated text into a dense table, in one pass and straight into the matrix.

#include "data/table/part_state.hpp"

namespace lipschitzlr::data {

// For the text that begins with first_block, which is only looked at. expected_size is the size of the text in bytes,
// if known, else 0: with it the matrix is allocated once. Rows can go to a sink unless options.raw: a text may tell
// what the cells above it are.
std::unique_ptr<PartReading> parse_csv(std::string_view first_block, std::uint64_t expected_size,
                                       const std::string& file, const ReadOptions& options, RowSink sink = {});

}  // namespace lipschitzlr::data

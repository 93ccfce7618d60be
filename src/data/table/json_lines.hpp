#pragma once
// JSON Lines: an object on each line, whose fields are the cells of a row. A field that a line lacks, or that is null,
// is a gap. Columns stand in the order in which they first occur.

#include "data/table/part_parser.hpp"

namespace lipschitzlr::data {

// Whether the first line that is not blank begins with a brace.
bool looks_like_json_lines(std::string_view first_block);

std::unique_ptr<PartParser> parse_json_lines(const std::string& file, const ReadOptions& options);

}  // namespace lipschitzlr::data

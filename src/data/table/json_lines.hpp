#pragma once
// JSON Lines: an object on each line, whose fields are the cells of a row. A field that a line lacks, or that is null,
// is a gap. Columns stand in the order in which they first occur.

#include "data/table/part_state.hpp"

namespace lipschitzlr::data {

// Whether the first line that is not blank begins with a brace.
bool looks_like_json_lines(std::string_view first_block);

std::unique_ptr<PartReading> parse_json_lines(const std::string& file, const ReadOptions& options);

// The last field of the first line, which is the target unless another one is asked for.
std::string last_field_of(std::string_view first_lines, const std::string& file);

}  // namespace lipschitzlr::data

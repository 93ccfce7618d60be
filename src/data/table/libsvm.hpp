#pragma once
// LIBSVM text into a sparse table: "label index:value index:value ... # comment", indices from 1 and ascending.

#include <string>
#include <string_view>

#include "data/table/lines.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

// Whether the first lines look like it: after the label stands something like "7:".
bool looks_like_libsvm(std::string_view first_block);

// first_block holds the first lines, the rest is still to come.
Table read_libsvm(std::string_view first_block, LineBlocks& rest, const std::string& file, const ReadOptions& options);

}  // namespace lipschitzlr::data

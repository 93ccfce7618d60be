#pragma once
// Arrays of NumPy: a .npy file with a table of numbers, or an .npz archive with the arrays X and y. NaN is a gap.

#include <string>
#include <string_view>

#include "data/table/source.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data {

bool looks_like_npy(std::string_view first_bytes);
bool looks_like_zip(std::string_view first_bytes);

// All of a source that looks like one of them.
Table read_numpy(ByteSource& source, const std::string& file, const ReadOptions& options);

}  // namespace lipschitzlr::data

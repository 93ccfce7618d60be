#pragma once
// The IDX format of the MNIST files: two zero bytes, a type, the number of dimensions, their sizes as big-endian 32-bit
// numbers, then the values. Only type 8, unsigned bytes, occurs in image sets and is read here.

#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/table.hpp"

namespace lipschitzlr::data {

struct IdxArray {
  std::vector<Index> sizes;  // of each dimension, the slowest first
  std::string_view values;   // points into the content that was parsed
};

// name stands in error messages: Error (data) when the content is not IDX, is cut short or goes on too long.
IdxArray parse_idx(std::string_view content, const std::string& name);

// Images (rows x height x width) and their labels as one table: pixels 0 to 255 row by row, classes "0", "1", ...
Table read_idx_table(const std::string& images_path, const std::string& labels_path);

}  // namespace lipschitzlr::data

#pragma once
// The IDX format of the MNIST files: two zero bytes, a type, the number of dimensions, their sizes as big-endian 32-bit
// numbers, then the values. Only type 8, unsigned bytes, occurs in image sets and is read here.

#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/image/images.hpp"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

struct IdxArray {
  std::vector<Index> sizes;  // of each dimension, the slowest first
  std::string_view values;   // points into the content that was parsed
};

// name is for error messages: Error (data) when the content is not IDX, is cut short or too long.
IdxArray parse_idx(std::string_view content, const std::string& name);

// What an IDX file holds and how it is called in messages.
struct IdxFile {
  std::string_view content;
  std::string name;
};

// Images (count x height x width) and their labels. Without names of the classes they are "0", "1", ... up to the
// largest label. Error (data) as parse_idx, or when the two do not belong together or a label has no class.
ImageSet parse_idx_images(const IdxFile& images, const IdxFile& labels, const std::vector<std::string>& classes = {});
ImageSet read_idx_images(const std::string& images_path, const std::string& labels_path,
                         const std::vector<std::string>& classes = {});

// The same as a table of pixels, see image_table().
Table read_idx_table(const std::string& images_path, const std::string& labels_path);

}  // namespace lipschitzlr::data

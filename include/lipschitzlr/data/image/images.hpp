#pragma once
// A set of images of one size with class labels, as bytes: what CIFAR, MNIST or a folder of PNG files holds. Where it
// comes from is the business of image_sources.hpp, what a network is fed with that of batches.hpp.

#include <cstdint>
#include <string>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"
#include "lipschitzlr/data/table/table.hpp"

namespace lipschitzlr::data {

struct ImageSet {
  Index height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> pixels = {};  // image by image, row by row, the channels of a pixel side by side
  std::vector<std::int32_t> labels = {};  // one per image, from 0
  std::vector<std::string> classes = {};  // the names the labels stand for

  Index count() const { return static_cast<Index>(labels.size()); }
  Index pixels_per_image() const { return height * width * channels; }
};

// One row per image for the linear models: pixels 0 to 255 in the order of the set, named pixel_ROW_COLUMN (with
// colours pixel_ROW_COLUMN_red, ...), and the classes that occur as target "label".
Table image_table(const ImageSet& images);

// 0, 1, ... count() - 1: where the chosen images are all of them.
std::vector<Index> all_images(const ImageSet& images);

}  // namespace lipschitzlr::data

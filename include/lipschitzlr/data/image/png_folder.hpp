#pragma once
// A folder of PNG files by class: one folder per class, its name the class, the pictures inside (not deeper), all of
// one size. The pictures of a set have one channel when all of them are grey, else three. Part of lipschitzlr_images.

#include <string>

#include "lipschitzlr/data/image/image_sources.hpp"

namespace lipschitzlr::data {

// With folders train/ and test/ inside, the named part: both must have the same classes and one size. Else all of it is
// the training part, and the test part has no images. Classes and files are in the order of their names.
ImageSet read_png_folder(const std::string& folder, Part part);

}  // namespace lipschitzlr::data

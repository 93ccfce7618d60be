#pragma once
// Image sets from where they lie: the sets of the catalogue that hold images (mnist, fashion-mnist, cifar10, cifar100),
// or a folder with train/ and test/ (or neither), each with one folder of PNG files per class.

#include <string>
#include <vector>

#include "lipschitzlr/data/image/images.hpp"

namespace lipschitzlr::data {

enum class Part { train, test };

// The named set or folder; a folder of PNG files without test/ has an empty test part. Throws Error (data) naming the
// file, the place in it and what was expected, or with the command that gets a set that is not here.
ImageSet load_images(const std::string& source, Part part);

// "mnist", "fashion-mnist", "cifar10", "cifar100"
std::vector<std::string> image_set_names();

}  // namespace lipschitzlr::data

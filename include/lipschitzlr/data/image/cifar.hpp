#pragma once
// The binary files of CIFAR-10 and CIFAR-100: records of the same size without a header, each one or two label bytes
// (CIFAR-100: coarse, then fine) and the 32 x 32 pixels as 1,024 red, 1,024 green and 1,024 blue bytes.

#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/data/image/images.hpp"

namespace lipschitzlr::data {

enum class Cifar { ten, hundred };

const std::vector<std::string>& cifar_classes(Cifar kind);  // of CIFAR-100 the fine ones, which are its labels

// name is for error messages: Error (data) with record and byte when the content is not a whole number of records or a
// label is out of range.
ImageSet parse_cifar(std::string_view content, const std::string& name, Cifar kind);

// The files one after the other.
ImageSet read_cifar(const std::vector<std::string>& paths, Cifar kind);

}  // namespace lipschitzlr::data

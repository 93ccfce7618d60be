#pragma once
// In which order layers were made, from the names that Keras gave them: conv2d, conv2d_1, conv2d_2, ... A file lists
// them by their distance from the output instead, which puts the shortcut of a residual block before the block's last
// convolution, and these two can be of the same shape.

#include <cstddef>
#include <string>
#include <vector>

namespace lipschitzlr::nn {

// The positions of names in the order of creation. Names that differ only in their number are sorted by it, among the
// places that they take in the list; all others stay where they are.
std::vector<std::size_t> creation_order(const std::vector<std::string>& names);

}  // namespace lipschitzlr::nn

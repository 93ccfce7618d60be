#pragma once
// One PNG picture as bytes. Transparency is dropped, 16 bits are cut to 8, a palette becomes its colours; nothing else
// is done to the values (no gamma). Part of lipschitzlr_images, which needs libpng; the core does not.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::data {

struct PngShape {
  Index height = 0, width = 0;
  bool coloured = false;  // a palette counts as coloured

  Index channels() const { return coloured ? 3 : 1; }
};

// As many bytes of a file as its shape needs.
inline constexpr std::size_t kPngHeader = 33;

// From the first bytes of a file; name is for error messages. Error (data) when they are not those of a PNG picture.
PngShape png_shape(std::string_view content, const std::string& name);

// Row by row, the channels (1 or 3) of a pixel side by side. A grey picture may be had with 3 channels, a coloured one
// not with 1. Error (data) with the byte where the content is damaged or cut short.
std::vector<std::uint8_t> decode_png(std::string_view content, const std::string& name, Index channels);

}  // namespace lipschitzlr::data

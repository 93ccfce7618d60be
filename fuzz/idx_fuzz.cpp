// Any bytes as the images and labels of an IDX set, parted where the first byte says: refused with an Error, or a set
// with a class for each label that also makes a table.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/image/idx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const std::size_t border = std::min<std::size_t>(bytes[0] & 0x7f, content.size());
  const std::vector<std::string> two = {"no", "yes"};
  try {
    const data::ImageSet set =
        data::parse_idx_images({content.substr(border), "images"}, {content.substr(0, border), "labels"},
                               (bytes[0] & 0x80) != 0 ? two : std::vector<std::string>{});
    if (set.count() == 0 || static_cast<Index>(set.pixels.size()) != set.count() * set.pixels_per_image()) std::abort();
    const data::Table table = data::image_table(set);
    if (table.rows() != set.count() || table.columns() != set.pixels_per_image()) std::abort();
  } catch (const Error&) {
  }
  return 0;
}

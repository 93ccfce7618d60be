// Any bytes as a PNG picture: refused with an Error, or pixels of the size that the header said, grey as well as with
// three channels. Every chunk of the file ends with its checksum, by which nearly all changes would be found at the
// door: the mutations get theirs made right.

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/image/png.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(bytes, size, most);
  if (seed % 8 == 0) return size;  // some stay wrong
  // A chunk: length of its data, type, data, checksum of type and data.
  for (std::size_t chunk = 8; chunk + 12 <= size;) {
    std::size_t length = 0;
    for (int i = 0; i < 4; ++i) length = length << 8 | bytes[chunk + static_cast<std::size_t>(i)];
    length = std::min(length, size - chunk - 12);
    for (int i = 0; i < 4; ++i) bytes[chunk + static_cast<std::size_t>(i)] = (length >> (24 - 8 * i)) & 0xff;
    const std::size_t end = chunk + 8 + length;
    const unsigned long checksum = crc32(0, bytes + chunk + 4, static_cast<unsigned>(4 + length));
    for (int i = 0; i < 4; ++i) bytes[end + static_cast<std::size_t>(i)] = (checksum >> (24 - 8 * i)) & 0xff;
    chunk = end + 4;
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace lipschitzlr;
  const std::string_view content(reinterpret_cast<const char*>(bytes), size);
  for (Index channels : {1, 3}) {
    try {
      const std::size_t decoded = data::decode_png(content, "fuzz", channels).size();
      const data::PngShape shape = data::png_shape(content, "fuzz");
      if (static_cast<Index>(decoded) != shape.height * shape.width * channels) std::abort();
    } catch (const Error&) {
    }
  }
  return 0;
}

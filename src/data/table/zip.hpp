#pragma once
// The files in a zip archive in memory, stored or deflated, as NumPy writes an .npz. What does not fit is an Error
// (data); the sizes that the archive claims are not trusted.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lipschitzlr::data {

struct ZipEntry {
  std::string name;
  std::uint64_t packed_size = 0, size = 0, offset = 0;  // offset: of its header in the archive
  unsigned method = 0;                                  // 0 stored, 8 deflated
  std::uint32_t checksum = 0;
};

std::vector<ZipEntry> list_zip(std::string_view archive, const std::string& file);
std::string extract(std::string_view archive, const ZipEntry& entry, const std::string& file);

}  // namespace lipschitzlr::data

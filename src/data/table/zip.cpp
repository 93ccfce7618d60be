#include "data/table/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <limits>

#include "data/table/read_error.hpp"

namespace lipschitzlr::data {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostEntries = 1000;
constexpr std::uint64_t kSizeElsewhere = 0xFFFFFFFF;  // in the field of zip64

[[noreturn]] void fail_zip(const std::string& file) { fail_in_file(file, "the archive is damaged: get it again"); }

// Little-endian numbers at a place that must be inside.
class ZipBytes {
 public:
  ZipBytes(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::string_view at(std::uint64_t place, std::uint64_t size) const {
    if (place > bytes_.size() || size > bytes_.size() - place) fail_zip(file_);
    return bytes_.substr(place, size);
  }
  std::uint64_t number(std::uint64_t place, int bytes) const {
    std::uint64_t value = 0;
    for (const std::string_view part = at(place, static_cast<std::uint64_t>(bytes)); bytes > 0; --bytes) {
      value = value << 8 | static_cast<unsigned char>(part[static_cast<std::size_t>(bytes - 1)]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
};

// Sizes and offset that do not fit 32 bits stand in an extra field, in this order.
void read_zip64(const ZipBytes& bytes, std::uint64_t extra, std::uint64_t extra_size, ZipEntry& entry) {
  const std::uint64_t end = extra + extra_size;
  for (std::uint64_t place = extra; place + 4 <= end;) {
    const std::uint64_t kind = bytes.number(place, 2), size = bytes.number(place + 2, 2);
    std::uint64_t field = place + 4;
    for (std::uint64_t* value : {&entry.size, &entry.packed_size, &entry.offset}) {
      if (kind != 1 || *value != kSizeElsewhere || field + 8 > place + 4 + size) continue;
      *value = bytes.number(field, 8);
      field += 8;
    }
    place += 4 + size;
  }
}

}  // namespace

std::vector<ZipEntry> list_zip(std::string_view archive, const std::string& file) {
  const ZipBytes bytes(archive, file);
  const std::size_t end = archive.rfind("PK\x05\x06"sv);
  if (end == std::string_view::npos) fail_in_file(file, "the archive ends too early: get it again");
  constexpr std::uint64_t kEndSize = 22;
  bytes.at(end, kEndSize);
  const std::uint64_t count = bytes.number(end + 10, 2);
  std::uint64_t place = bytes.number(end + 16, 4);
  if (count > kMostEntries || place == kSizeElsewhere) {
    fail_in_file(file, fmt::format("the archive has more than {} files, or more than 4 GB", kMostEntries));
  }
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.at(place, 4) != "PK\x01\x02"sv) fail_zip(file);
    ZipEntry entry;
    entry.method = static_cast<unsigned>(bytes.number(place + 10, 2));
    entry.checksum = static_cast<std::uint32_t>(bytes.number(place + 16, 4));
    entry.packed_size = bytes.number(place + 20, 4);
    entry.size = bytes.number(place + 24, 4);
    entry.offset = bytes.number(place + 42, 4);
    const std::uint64_t name = bytes.number(place + 28, 2), extra = bytes.number(place + 30, 2);
    entry.name = bytes.at(place + 46, name);
    read_zip64(bytes, place + 46 + name, extra, entry);
    place += 46 + name + extra + bytes.number(place + 32, 2);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string extract(std::string_view archive, const ZipEntry& entry, const std::string& file) {
  constexpr std::uint64_t kHarmless = std::uint64_t{64} << 20, kMostFold = 200;
  const ZipBytes bytes(archive, file);
  if (bytes.at(entry.offset, 4) != "PK\x03\x04"sv) fail_zip(file);
  const std::uint64_t start =
      entry.offset + 30 + bytes.number(entry.offset + 26, 2) + bytes.number(entry.offset + 28, 2);
  const std::string_view packed = bytes.at(start, entry.packed_size);
  std::string content;
  if (entry.method == 0) {
    content = packed;
  } else if (entry.method == 8) {
    if (entry.size > kHarmless && entry.size / kMostFold > packed.size()) {
      fail_in_file(
          file, fmt::format("unpacks to more than {} times its size: unpack it yourself if you trust it", kMostFold));
    }
    if (packed.size() > std::numeric_limits<uInt>::max() || entry.size > std::numeric_limits<uInt>::max()) {
      fail_in_file(file, "an array is larger than 4 GB: save it with numpy.savez, which does not pack");
    }
    content.resize(entry.size);
    z_stream stream{};
    constexpr int kRawDeflate = -15;
    if (inflateInit2(&stream, kRawDeflate) != Z_OK) throw std::bad_alloc();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(content.data());
    stream.avail_out = static_cast<uInt>(content.size());
    const int status = inflate(&stream, Z_FINISH);
    const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (!whole) fail_zip(file);
  } else {
    fail_in_file(file, fmt::format("{} is packed in a way that NumPy does not use", in_quotes(entry.name)));
  }
  const auto found = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (content.size() != entry.size || found != entry.checksum) fail_zip(file);
  return content;
}

}  // namespace lipschitzlr::data

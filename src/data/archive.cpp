#include "lipschitzlr/data/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::data {
namespace {

// No data set of ours is near it; a packed file that grows without end is stopped here.
constexpr std::size_t kLargestMember = std::size_t{1} << 30;

std::string read_content(archive* reader, const std::string& path, const std::string& member) {
  std::string content;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const la_ssize_t count = archive_read_data(reader, buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count < 0) {
      throw Error(Fault::data, fmt::format("{}: {} can't be unpacked: {}", path, member, archive_error_string(reader)));
    }
    if (content.size() + static_cast<std::size_t>(count) > kLargestMember) {
      throw Error(Fault::data, fmt::format("{}: {} is larger than any known data set", path, member));
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string read_member(const std::string& archive_path, const std::string& member) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  int status = archive_read_open_filename(reader.get(), archive_path.c_str(), 1 << 16);
  archive_entry* entry = nullptr;
  while (status >= ARCHIVE_WARN && (status = archive_read_next_header(reader.get(), &entry)) >= ARCHIVE_WARN) {
    if (status == ARCHIVE_EOF) break;
    const char* name = archive_entry_pathname(entry);
    if (name != nullptr && name == member) return read_content(reader.get(), archive_path, member);
  }
  if (status == ARCHIVE_EOF) throw Error(Fault::data, fmt::format("{}: holds no file {}", archive_path, member));
  throw Error(Fault::data,
              fmt::format("{}: is not a readable archive: {}", archive_path, archive_error_string(reader.get())));
}

}  // namespace lipschitzlr::data

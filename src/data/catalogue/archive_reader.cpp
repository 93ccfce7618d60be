#include "lipschitzlr/data/catalogue/archive_reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/download.hpp"

namespace lipschitzlr::data {
namespace {

// libarchive has no words for some failures.
std::string reason_of(archive* reader) {
  const char* const text = archive_error_string(reader);
  return text != nullptr ? text : "it is damaged";
}

std::string read_content(archive* reader, const std::string& path, const std::string& member) {
  std::string content;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const la_ssize_t count = archive_read_data(reader, buffer.data(), buffer.size());
    if (count == 0) return content;
    if (count < 0) {
      throw Error(Fault::data, fmt::format("{}: {} can't be unpacked: {}", path, member, reason_of(reader)));
    }
    if (content.size() + static_cast<std::size_t>(count) > kMostDownloaded) {
      throw Error(Fault::data, fmt::format("{}: {} is larger than any known data set", path, member));
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

using Handle = std::unique_ptr<archive, decltype(&archive_read_free)>;

Handle new_reader() {
  Handle reader(archive_read_new(), archive_read_free);
  // These only: to unpack some others libarchive starts another program, with the file as its input.
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_zstd(reader.get());
  archive_read_support_format_tar(reader.get());
  archive_read_support_format_zip(reader.get());
  archive_read_support_format_ar(reader.get());
  return reader;
}

std::string_view without_dot(std::string_view path) { return path.starts_with("./") ? path.substr(2) : path; }

// Calls see(path in the archive) until it returns false.
template <class See>
void walk(archive* reader, int status, const std::string& path, See see) {
  archive_entry* entry = nullptr;
  while (status >= ARCHIVE_WARN && (status = archive_read_next_header(reader, &entry)) >= ARCHIVE_WARN) {
    if (status == ARCHIVE_EOF) return;
    const char* name = archive_entry_pathname(entry);
    if (name != nullptr && !see(without_dot(name))) return;
  }
  throw Error(Fault::data, fmt::format("{}: is not a readable archive: {}", path, reason_of(reader)));
}

std::vector<std::string> collect(archive* reader, int status, const std::string& path,
                                 const std::vector<std::string>& members) {
  std::vector<std::optional<std::string>> found(members.size());
  walk(reader, status, path, [&](std::string_view name) {
    const auto wanted = [&](const std::string& member) { return without_dot(member) == name; };
    if (const auto first = std::find_if(members.begin(), members.end(), wanted); first != members.end()) {
      const std::string content = read_content(reader, path, *first);
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (wanted(members[i])) found[i] = content;
      }
    }
    return !std::all_of(found.begin(), found.end(), [](const auto& content) { return content.has_value(); });
  });
  std::vector<std::string> contents;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!found[i]) throw Error(Fault::data, fmt::format("{}: holds no file {}", path, members[i]));
    contents.push_back(std::move(*found[i]));
  }
  return contents;
}

// A Debian package is an archive of archives: what it installs is data.tar, packed in one way or another.
std::optional<std::string> installed_part(archive* reader, int status, const std::string& path) {
  std::optional<std::string> part;
  bool is_package = false;
  walk(reader, status, path, [&](std::string_view name) {
    if (!is_package && name != "debian-binary") return false;
    is_package = true;
    if (name.starts_with("data.tar")) part = read_content(reader, path, std::string(name));
    return !part.has_value();
  });
  return part;
}

}  // namespace

std::vector<std::string> read_members(const std::string& archive_path, const std::vector<std::string>& members) {
  constexpr std::size_t kBlock = 1 << 16;
  {
    const Handle outer = new_reader();
    const int status = archive_read_open_filename(outer.get(), archive_path.c_str(), kBlock);
    if (const std::optional<std::string> part = installed_part(outer.get(), status, archive_path)) {
      const Handle inner = new_reader();
      return collect(inner.get(), archive_read_open_memory(inner.get(), part->data(), part->size()), archive_path,
                     members);
    }
  }
  const Handle reader = new_reader();
  return collect(reader.get(), archive_read_open_filename(reader.get(), archive_path.c_str(), kBlock), archive_path,
                 members);
}

std::string read_member(const std::string& archive_path, const std::string& member) {
  return read_members(archive_path, {member}).at(0);
}

}  // namespace lipschitzlr::data

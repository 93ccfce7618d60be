#pragma once
// Archives for the tests, made by libarchive's writer.

#include <archive.h>
#include <archive_entry.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {

using Members = std::vector<std::pair<std::string, std::string>>;  // path and content

inline void write_archive(const std::string& path, const Members& members, int format, int filter) {
  archive* writer = archive_write_new();
  const auto demand = [&](la_ssize_t status) {
    if (status < ARCHIVE_OK) throw std::runtime_error(path + ": " + archive_error_string(writer));
  };
  // The general function does not know this format.
  demand(format == ARCHIVE_FORMAT_AR_BSD ? archive_write_set_format_ar_bsd(writer)
                                         : archive_write_set_format(writer, format));
  demand(archive_write_add_filter(writer, filter));
  demand(archive_write_open_filename(writer, path.c_str()));
  for (const auto& [name, content] : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    demand(archive_write_header(writer, entry));
    demand(archive_write_data(writer, content.data(), content.size()));
    archive_entry_free(entry);
  }
  demand(archive_write_close(writer));
  archive_write_free(writer);
}

// As npm packs it.
inline void write_tgz(const std::string& path, const Members& members) {
  write_archive(path, members, ARCHIVE_FORMAT_TAR_PAX_RESTRICTED, ARCHIVE_FILTER_GZIP);
}

// As Debian packs it: an archive that holds the archive of what is installed.
inline void write_deb(const std::string& path, const Members& members) {
  const std::string inner = path + ".inner";
  write_archive(inner, members, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ);
  const Members outer = {{"debian-binary", "2.0\n"}, {"control.tar.xz", "nothing"}, {"data.tar.xz", read_file(inner)}};
  write_archive(path, outer, ARCHIVE_FORMAT_AR_BSD, ARCHIVE_FILTER_NONE);
  std::filesystem::remove(inner);
}

}  // namespace lipschitzlr::data

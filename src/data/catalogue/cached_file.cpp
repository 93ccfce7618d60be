#include "data/catalogue/cached_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "data/table/source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/data/catalogue/download.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

std::string all_of(const std::unique_ptr<ByteSource>& source, std::uint64_t most, const std::string& name) {
  std::string content, piece(1 << 20, '\0');
  for (std::size_t count = piece.size(); count == piece.size();) {
    count = source->read(piece.data(), piece.size());
    if (content.size() + count > most) {
      throw Error(Fault::data, fmt::format("{}: is larger than the data set can be: {} bytes", name, most));
    }
    content.append(piece, 0, count);
  }
  return content;
}

// The temporary path means nothing to the reader of a message: the file is named instead.
void check_shape(const Source& source, const File& file, const std::string& waiting) {
  try {
    read_source(source, {waiting});
  } catch (const Error& error) {
    std::string sentence = error.what();
    const std::size_t place = sentence.find(waiting);
    if (place != std::string::npos) sentence.replace(place, waiting.size(), file.name);
    throw Error(error.fault(), sentence);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  std::string pattern = (parent / "lipschitzlr-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(Fault::data, fmt::format("{}: can't make a folder: {}", parent.string(), std::strerror(errno)));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool is_file(const std::string& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

std::uint64_t most_bytes(const Source& source) {
  // Of a number in a table with all its digits and the separator; a pixel is one byte. A header comes on top.
  const std::uint64_t bytes_per_value = source.read_images != nullptr ? 1 : 16, header = 1 << 20;
  const auto values = static_cast<std::uint64_t>(source.rows) * static_cast<std::uint64_t>(source.columns + 1);
  return std::min(kMostDownloaded, values * bytes_per_value + header);
}

Obtained install(const Entry& entry, const Source& source, const File& file, const std::string& content,
                 bool accept_unknown) {
  const std::string target = cached_path(entry, file);
  Obtained result{entry.name, target, content.size(), sha256(content), "known checksum"};
  const fs::path folder = fs::path(target).parent_path();
  std::error_code failure;
  fs::create_directories(folder, failure);
  const TemporaryFolder incoming(folder);
  const std::string waiting = incoming.path() / file.name;
  if (result.sha256 != file.sha256) {
    if (file.exact || !(file.sha256.empty() || accept_unknown)) {
      throw Error(Fault::data,
                  fmt::format("is not the file of {}: its SHA-256 checksum is {} instead of {}{}", entry.name,
                              result.sha256, file.sha256, file.exact ? "" : "; if you trust it, add --accept-unknown"));
    }
    write_file_atomically(waiting, content);
    check_shape(source, file, waiting);
    result.check = "a copy not seen before; its shape is right, its checksum is now recorded";
  } else {
    write_file_atomically(waiting, content);
  }
  write_file_atomically(target + ".sha256", fmt::format("{}  {}\n", result.sha256, file.name));
  fs::rename(waiting, target, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: can't write: {}", target, failure.message()));
  return result;
}

std::string unpacked(const std::string& path, std::uint64_t most) {
  return all_of(unpack(open_file(path), path), most, path);
}

std::string unpacked(std::string_view content, std::uint64_t most, const std::string& name) {
  return all_of(unpack(open_memory(content), name), most, name);
}

std::string recorded_checksum(const std::string& path) {
  return is_file(path + ".sha256") ? read_file(path + ".sha256").substr(0, 64) : "";
}

}  // namespace lipschitzlr::data::catalogue

#include "data/catalogue/cached_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "data/table/source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/sha256.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

std::string all_of(const std::unique_ptr<ByteSource>& source) {
  std::string content, piece(1 << 20, '\0');
  for (std::size_t count = piece.size(); count == piece.size();) {
    count = source->read(piece.data(), piece.size());
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

Obtained install(const Entry& entry, const Source& source, const File& file, const std::string& content) {
  const std::string target = cached_path(entry, file);
  Obtained result{entry.name, target, content.size(), sha256(content), "known checksum"};
  const fs::path folder = fs::path(target).parent_path();
  std::error_code failure;
  fs::create_directories(folder, failure);
  const TemporaryFolder incoming(folder);
  const std::string waiting = incoming.path() / file.name;
  if (result.sha256 != file.sha256) {
    if (file.exact) {
      throw Error(Fault::data, fmt::format("is not the file of {}: its SHA-256 checksum is {} instead of {}",
                                           entry.name, result.sha256, file.sha256));
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

std::string unpacked(const std::string& path) { return all_of(unpack(open_file(path), path)); }

std::string unpacked(std::string_view content, const std::string& name) {
  return all_of(unpack(open_memory(content), name));
}

std::string recorded_checksum(const std::string& path) {
  return is_file(path + ".sha256") ? read_file(path + ".sha256").substr(0, 64) : "";
}

}  // namespace lipschitzlr::data::catalogue

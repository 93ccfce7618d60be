#include "lipschitzlr/data/obtain.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "data/source.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/archive.hpp"
#include "lipschitzlr/data/checksum.hpp"
#include "lipschitzlr/data/fetch.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code unreadable;
  return fs::is_regular_file(path, unreadable);
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

// A folder beside the final place where a file waits until it is checked; gone at the end, whatever happens.
class WaitingRoom {
 public:
  explicit WaitingRoom(const std::string& target)
      : folder_(fs::path(target).parent_path() / fmt::format("incoming-{}", getpid())) {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw Error(Fault::data, fmt::format("{}: can't write: {}", folder_.string(), failure.message()));
  }
  ~WaitingRoom() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  std::string place(const std::string& name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

std::string unpacked(const std::string& path) {
  const std::unique_ptr<ByteSource> source = unpack(open_file(path), path);
  std::string content, piece(1 << 20, '\0');
  for (std::size_t count = piece.size(); count == piece.size();) {
    count = source->read(piece.data(), piece.size());
    content.append(piece, 0, count);
  }
  return content;
}

// The waiting room means nothing to the reader of a message: the file is named instead.
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

// Checks the content and puts it into the cache with its checksum beside it.
Obtained install(const Entry& entry, const Source& source, const File& file, const std::string& content) {
  const std::string target = cached_path(entry, file);
  Obtained result{entry.name, target, content.size(), sha256(content), "known checksum"};
  const WaitingRoom room(target);
  const std::string waiting = room.place(file.name);
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
  std::error_code failure;
  fs::rename(waiting, target, failure);
  if (failure) throw Error(Fault::data, fmt::format("{}: can't write: {}", target, failure.message()));
  return result;
}

std::string content_of(const std::string& path, const File& file) {
  switch (file.packing) {
    case Packing::plain:
      return read_file(path);
    case Packing::compressed:
      return unpacked(path);
    case Packing::archive:
      return read_member(path, file.member);
  }
  return {};
}

Obtained get_file(const Entry& entry, const Source& source, const File& file, const GetOptions& options) {
  const std::string arrived = cached_path(entry, file) + ".download";
  DownloadOptions how{.sha256 = file.address_sha256, .stall_seconds = options.stall_seconds};
  if (options.progress) {
    how.progress = [&](std::uint64_t received, std::uint64_t total) { options.progress(file.name, received, total); };
  }
  download(file.address, arrived, how);
  try {
    const Obtained result = install(entry, source, file, content_of(arrived, file));
    remove_quietly(arrived);
    return result;
  } catch (const Error& error) {
    remove_quietly(arrived);
    throw Error(Fault::data, fmt::format("{}: what arrived is not usable: {}", file.address, error.what()));
  }
}

struct Known {
  const Entry* entry;
  const Source* source;
  const File* file;
  bool packed;  // under the name NAME.gz or NAME.xz
};

std::vector<Known> known_by(const std::string& name) {
  std::vector<Known> found;
  for (const Entry& entry : entries()) {
    for (const Source& source : entry.sources) {
      for (const File& file : source.files) {
        const bool packed = name == file.name + ".gz" || name == file.name + ".xz";
        if (packed || name == file.name) found.push_back({&entry, &source, &file, packed});
      }
    }
  }
  return found;
}

std::vector<fs::path> files_in(const std::string& folder) {
  constexpr int kDepth = 6;
  constexpr std::size_t kMost = 100000;
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    throw Error(Fault::data, fmt::format("{}: is not a folder that can be read", folder));
  }
  std::vector<fs::path> files;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied, failure), end;
  for (; !failure && walk != end && files.size() < kMost; walk.increment(failure)) {
    if (walk.depth() + 1 >= kDepth) walk.disable_recursion_pending();
    std::error_code unreadable;
    if (walk->is_regular_file(unreadable)) files.push_back(walk->path());
  }
  if (failure) throw Error(Fault::data, fmt::format("{}: can't be read: {}", folder, failure.message()));
  std::sort(files.begin(), files.end());
  return files;
}

Imported import_file(const std::string& path, const Known& known, const std::vector<Imported>& before) {
  Imported result{path, false, "", {}};
  const std::string target = cached_path(*known.entry, *known.file);
  for (const Imported& other : before) {
    if (!other.taken || other.file.path != target) continue;
    result.reason = fmt::format("already taken from {}", other.found);
    return result;
  }
  try {
    result.file = install(*known.entry, *known.source, *known.file, known.packed ? unpacked(path) : read_file(path));
    result.taken = true;
  } catch (const Error& error) {
    result.reason = error.what();
  }
  return result;
}

std::string recorded_checksum(const std::string& path) {
  return is_file(path + ".sha256") ? read_file(path + ".sha256").substr(0, 64) : "";
}

Verdict verify_file(const Entry& entry, const Source& source, const File& file) {
  const std::string path = cached_path(entry, file);
  const std::string recorded = recorded_checksum(path);
  const std::string actual = sha256_of_file(path);
  if (actual == file.sha256) return {entry.name, path, true, "known checksum"};
  if (recorded.empty() || file.exact) {
    return {entry.name, path, false, "its checksum is not known; take it again with get or import"};
  }
  if (actual != recorded) {
    return {entry.name, path, false, "it has changed since it was taken; take it again with get or import"};
  }
  try {
    read_source(source, {path});
  } catch (const Error& error) {
    return {entry.name, path, false, error.what()};
  }
  return {entry.name, path, true, "unchanged since it was first taken"};
}

}  // namespace

std::vector<Obtained> get(const Entry& entry, const GetOptions& options) {
  if (entry.sources.empty()) return {{entry.name, "", embedded_csv(entry.name).size(), "", "embedded, always here"}};
  const auto source = std::find_if(entry.sources.begin(), entry.sources.end(), [](const Source& candidate) {
    return std::none_of(candidate.files.begin(), candidate.files.end(),
                        [](const File& f) { return f.address.empty(); });
  });
  if (source == entry.sources.end()) {
    throw Error(Fault::usage, fmt::format("{0} has no address to download from; take it from a folder with: "
                                          "lipschitzlr data import FOLDER",
                                          entry.name));
  }
  std::vector<Obtained> results;
  for (const File& file : source->files) {
    const std::string path = cached_path(entry, file);
    if (!options.again && is_file(path)) {
      results.push_back({entry.name, path, fs::file_size(path), recorded_checksum(path), "already here"});
    } else {
      results.push_back(get_file(entry, *source, file, options));
    }
  }
  return results;
}

ImportReport import_folder(const std::string& folder) {
  ImportReport report;
  for (const fs::path& path : files_in(folder)) {
    const std::vector<Known> known = known_by(path.filename());
    if (known.empty()) ++report.unknown;
    for (const Known& candidate : known) report.files.push_back(import_file(path, candidate, report.files));
  }
  return report;
}

std::vector<Verdict> verify(const Entry& entry) {
  std::vector<Verdict> verdicts;
  if (entry.sources.empty()) {
    const Table table = load(entry);
    const bool sound = table.rows() == entry.rows && table.columns() == entry.columns;
    return {{entry.name, "", sound, sound ? "embedded, reads as it should" : "embedded, but damaged: build again"}};
  }
  for (const Source& source : entry.sources) {
    const auto here = [&](const File& file) { return is_file(cached_path(entry, file)); };
    if (std::none_of(source.files.begin(), source.files.end(), here)) continue;
    for (const File& file : source.files) {
      verdicts.push_back(here(file)
                             ? verify_file(entry, source, file)
                             : Verdict{entry.name, cached_path(entry, file), false, "missing beside the others"});
    }
  }
  return verdicts;
}

}  // namespace lipschitzlr::data::catalogue

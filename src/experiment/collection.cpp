#include "lipschitzlr/experiment/collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "experiment/row_file.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/experiment/network_runner.hpp"

namespace lipschitzlr::experiment {
namespace {

namespace fs = std::filesystem;
using run::Record;
using run::RecordState;

class Collector {
 public:
  void add(const std::string& named) {
    const fs::path path(named);
    std::error_code failure;
    if (fs::is_directory(path, failure)) {
      if (!add_folder(path)) note(named, RecordState::missing, {"There is no record in this folder."});
    } else if (!fs::exists(path, failure)) {
      note(named, RecordState::missing, {"There is no such file or folder."});
    } else if (is_part_of_record(path)) {
      add_record(path.has_parent_path() ? path.parent_path() : fs::path("."));
    } else if (is_new(path)) {
      add_rows(path, read_row_file(named));
    }
  }

  Collection take() { return std::move(collection_); }

 private:
  static bool is_part_of_record(const fs::path& path) {
    const fs::path name = path.filename();
    return name == "config.json" || name == "metrics.jsonl" || name == "summary.json";
  }

  bool is_new(const fs::path& path) {
    std::error_code failure;
    const fs::path whole = fs::weakly_canonical(path, failure);
    return seen_.insert(failure ? path.string() : whole.string()).second;
  }

  void note(const std::string& named, RecordState state, const std::vector<std::string>& faults) {
    Record& record = collection_.records.emplace_back();
    record.folder = named;
    record.state = state;
    record.faults = faults;
    record.last_loss = std::numeric_limits<double>::quiet_NaN();
  }

  void add_record(const fs::path& folder) {
    if (is_new(folder)) collection_.records.push_back(run::read_record(folder.string()));
  }

  void add_rows(const fs::path& path, RowFile file) {
    std::move(file.rows.begin(), file.rows.end(), std::back_inserter(collection_.measured));
    if (!file.faults.empty()) note(path.string(), RecordState::damaged, file.faults);
  }

  // Whether there was a record in it. A folder that is one is not searched further.
  bool add_folder(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder, failure)) entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    if (std::any_of(entries.begin(), entries.end(), is_part_of_record)) {
      add_record(folder);
      return true;
    }
    bool found = false;
    for (const fs::path& entry : entries) {
      // A link to a folder could lead round in a circle.
      if (fs::is_directory(entry, failure)) {
        found |= !fs::is_symlink(entry, failure) && add_folder(entry);
      } else if (entry.filename() == run::kSpeedsFile) {
        add_speeds(entry);
      } else if (entry.extension() == ".json") {
        found |= add_row_file(entry);
      }
    }
    return found;
  }

  // There may be other JSON files: in a folder, only those that are tables count.
  bool add_row_file(const fs::path& path) {
    RowFile file = read_row_file(path.string());
    if (file.something_else) return false;
    if (is_new(path)) add_rows(path, std::move(file));
    return true;
  }

  // Estimates only: a page without them is no worse than before.
  void add_speeds(const fs::path& path) {
    try {
      for (const run::NetworkSpeed& speed : run::speeds_from(read_file(path.string()))) {
        collection_.speeds.push_back(speed);
      }
    } catch (const Error&) {
    }
  }

  Collection collection_;
  std::set<std::string> seen_;
};

// Hours that all epochs of a row take, by the seconds per epoch of a record of the same network and policy, else by the
// speed that was measured for it; none without either.
std::optional<double> hours_of(const Recipe& recipe, const Collection& collection) {
  const NetworkTraining& training = *recipe.network;
  double seconds = std::numeric_limits<double>::infinity();
  for (const Record& record : collection.records) {
    // Both CIFAR sets have as many images, of the same size. A computed rate may take a pass of its own over them.
    const bool same = record.model() == training.network && record.number("limit") == 0 &&
                      record.option("policy") == training.policy &&
                      record.data().substr(0, 5) == training.data.substr(0, 5);
    if (same && record.epoch_seconds() > 0) seconds = std::min(seconds, record.epoch_seconds());
  }
  if (!std::isfinite(seconds)) {
    seconds = epoch_seconds(recipe, recipe.has("coded") ? "coded" : recipe.protocols[0], collection.speeds, {});
  }
  if (!(seconds > 0)) return {};
  return seconds * static_cast<double>(training.epochs) / 3600;
}

// The last file that measured the row; when none did, the last that names it.
Row linear_row(const Recipe& recipe, const Collection& collection) {
  const Row* found = nullptr;
  for (const Row& row : collection.measured) {
    const bool same = row.recipe.id() == recipe.id();
    if (same && (found == nullptr || !row.runs.empty() || found->runs.empty())) found = &row;
  }
  Row row = found == nullptr ? Row{} : *found;
  row.recipe = recipe;
  if (found == nullptr) row.absent = absent_sets(recipe);
  return row;
}

}  // namespace

Collection collect(const std::vector<std::string>& paths) {
  Collector collector;
  for (const std::string& path : paths) collector.add(path);
  return collector.take();
}

std::vector<Row> rows_of(const std::vector<Recipe>& recipes, const Collection& collection) {
  std::vector<Row> rows;
  for (const Recipe& recipe : recipes) {
    rows.push_back(recipe.linear ? linear_row(recipe, collection) : network_row(recipe, collection.records));
    if (recipe.network) rows.back().hours = hours_of(recipe, collection);
  }
  return rows;
}

const Recipe* recipe_of(const Record& record) {
  for (const Recipe& recipe : recipes()) {
    for (const std::string& protocol : recipe.protocols) {
      if (recipe.network && is_of(recipe, protocol, record)) return &recipe;
    }
  }
  return nullptr;
}

std::optional<Row> measured_row(const Collection& collection, const Recipe& recipe, const Limits& limits) {
  const int seeds = limits.seeds_of(recipe);
  std::optional<Row> best;
  for (const Row& row : collection.measured) {
    const bool same = recipe.linear->counts_iterations() ? row.max_iterations == limits.max_iterations
                                                         : row.epochs == limits.epochs_of(recipe);
    if (row.recipe.id() != recipe.id() || !same || row.seeds < seeds || row.damaged || row.runs.empty()) continue;
    Row kept = row;
    kept.recipe = recipe;
    // More seeds than asked for hold those asked for.
    std::erase_if(kept.runs, [&](const Run& run) { return run.seed > static_cast<std::uint64_t>(seeds); });
    kept.seeds = seeds;
    if (kept.seeds_done >= seeds) {
      kept.seeds_done = seeds;
      kept.out_of_time = kept.interrupted = false;
    }
    if (!best || kept.finished() >= best->finished()) best = std::move(kept);
  }
  return best;
}

void write_row(const std::string& folder, const Row& row) {
  fs::create_directories(folder);
  write_file_atomically(fmt::format("{}/{}-{}.json", folder, row.recipe.table, row.recipe.name),
                        table_json({row}).dump(2) + "\n");
}

}  // namespace lipschitzlr::experiment

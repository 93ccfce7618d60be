#include "run/packed_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/sha256.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/data/table/packed.hpp"

namespace lipschitzlr::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 24;                  // of a name
constexpr int kReading = 2;                          // counts changes in how a file is read
constexpr auto kAbandoned = std::chrono::hours(24);  // a file that is being written is younger

std::vector<std::string> names_of(const std::vector<data::KnownColumn>& columns) {
  std::vector<std::string> names;
  for (const data::KnownColumn& column : columns) names.push_back(column.name);
  return names;
}

// All that decides what is read of a file of numbers.
std::string reading_of(const data::ReadOptions& options) {
  const auto text = [](const auto& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  return nlohmann::json{static_cast<int>(options.format),
                        text(options.separator),
                        text(options.target),
                        options.has_target,
                        text(options.header),
                        options.columns,
                        options.target_may_be_missing,
                        options.ignores_target,
                        options.target_is_classes,
                        options.target_column,
                        options.ignore,
                        options.only,
                        options.only_known,
                        names_of(options.known),
                        kReading}
      .dump();
}

bool can_be_read(const std::string& path) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) return false;
  try {
    data::PackedTable::open(path);
    return true;
  } catch (const Error&) {
    return false;  // damaged, or of another version
  }
}

// Of the same file as it was, which nobody reads again; also what an interrupted program left.
void remove_older(const fs::path& folder, const std::string& prefix, const std::string& kept) {
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    const bool abandoned =
        name.ends_with(".part") && fs::file_time_type::clock::now() - entry.last_write_time(failure) > kAbandoned;
    const bool older = name.ends_with(".lrd") && name != kept;
    if (name.starts_with(prefix) && (older || abandoned)) fs::remove(entry.path(), failure);
  }
}

}  // namespace

CachedPack pack_into_cache(const std::string& source, const data::ReadOptions& options) {
  const auto is_number = [](const data::KnownColumn& column) { return column.kind == data::ColumnKind::number; };
  if (const auto other = std::find_if_not(options.known.begin(), options.known.end(), is_number);
      other != options.known.end()) {
    throw Error(Fault::usage, fmt::format("its column {} is not taken for numbers", in_quotes(other->name)));
  }
  data::ReadOptions numbers = options;
  if (!options.only_known) numbers.known.clear();
  numbers.known_by_place = false;
  const fs::path file = fs::canonical(source), folder = fs::path(data::catalogue::cache_folder()) / "packed";
  const std::string prefix = sha256(file.string() + reading_of(numbers)).substr(0, kDigits) + "-";
  const auto changed = fs::last_write_time(file).time_since_epoch().count();
  const std::string name =
      prefix + sha256(fmt::format("{} {}", fs::file_size(file), changed)).substr(0, kDigits) + ".lrd";
  CachedPack pack{(folder / name).string(), options, ""};
  pack.options.format = data::Format::detect;
  pack.options.separator.reset();
  pack.options.header.reset();
  pack.options.target.reset();
  pack.options.ignore.clear();
  pack.options.only.clear();
  const bool packed_before = can_be_read(pack.path);
  if (!packed_before) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) throw Error(Fault::data, fmt::format("{}: can't be made: {}", folder.string(), failure.message()));
    data::pack_table(source, pack.path, numbers);
    remove_older(folder, prefix, name);
  }
  pack.remark = fmt::format("{}: takes more than --memory {}, so that it is read block by block from {}, {}", source,
                            format_size(*options.memory), pack.path,
                            packed_before ? "where it was packed before" : "where it is packed now");
  return pack;
}

}  // namespace lipschitzlr::run

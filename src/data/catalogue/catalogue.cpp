#include "lipschitzlr/data/catalogue/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/text.hpp"
#include "embedded/data_sets.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/table/read.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> cached_paths(const Entry& entry, const Source& source) {
  std::vector<std::string> paths;
  for (const File& file : source.files) paths.push_back(cached_path(entry, file));
  return paths;
}

const Source& present_source(const Entry& entry) {
  if (const Source* source = cached_source(entry)) return *source;
  throw Error(
      Fault::data,
      fmt::format("the data set {0} is not here; get it with: lipschitzlr data get {0}, or take it from a folder "
                  "with: lipschitzlr data import FOLDER",
                  entry.name));
}

}  // namespace

std::string to_string(Task task) { return task == Task::regression ? "regression" : "classification"; }

std::string to_string(Place place) {
  switch (place) {
    case Place::embedded:
      return "embedded";
    case Place::cached:
      return "cached";
    case Place::absent:
      return "not here";
  }
  return "not here";
}

const Entry* find(const std::string& name) {
  const auto& list = entries();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == list.end() ? nullptr : &*found;
}

const Entry& entry(const std::string& name) {
  if (const Entry* found = find(name)) return *found;
  std::vector<std::string> names;
  for (const Entry& known : entries()) names.push_back(known.name);
  throw Error(Fault::usage, fmt::format("there is no data set \"{}\"{}; known are {}", name, did_you_mean(name, names),
                                        fmt::join(names, ", ")));
}

std::string cache_folder() {
  if (const std::string own = variable("LIPSCHITZLR_DATA"); !own.empty()) return own;
  // A relative XDG folder is to be ignored, says the XDG specification.
  if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/')) return cache + "/lipschitzlr";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/lipschitzlr";
  throw Error(Fault::usage, "there is no home folder to keep data sets in; set LIPSCHITZLR_DATA to a folder");
}

std::string cached_path(const Entry& entry, const File& file) {
  return fmt::format("{}/{}/{}", cache_folder(), entry.name, file.name);
}

const Source* cached_source(const Entry& entry) {
  for (const Source& source : entry.sources) {
    const std::vector<std::string> paths = cached_paths(entry, source);
    std::error_code ignored;
    if (std::all_of(paths.begin(), paths.end(), [&](const auto& path) { return fs::is_regular_file(path, ignored); })) {
      return &source;
    }
  }
  return nullptr;
}

Place place(const Entry& entry) {
  if (entry.sources.empty()) return Place::embedded;
  return cached_source(entry) != nullptr ? Place::cached : Place::absent;
}

Table read_source(const Source& source, const std::vector<std::string>& paths) {
  Table table = source.read(paths);
  if (table.rows() == source.rows && table.columns() == source.columns) return table;
  throw Error(Fault::data, fmt::format("{}: has {} rows and {} features, expected {} and {}", paths.at(0), table.rows(),
                                       table.columns(), source.rows, source.columns));
}

Table load(const Entry& entry) {
  if (!entry.sources.empty()) {
    const Source& source = present_source(entry);
    return read_source(source, cached_paths(entry, source));
  }
  Table table =
      parse_table(embedded_csv(entry.name), entry.name, {.format = Format::csv, .target = {}, .header = true});
  if (entry.task == Task::classification && !table.is_classified()) make_classes(table);
  return table;
}

ImageSet load_images(const Entry& entry) {
  const Source& source = present_source(entry);
  const std::vector<std::string> paths = cached_paths(entry, source);
  ImageSet images = source.read_images(paths);
  if (images.count() == source.rows && images.pixels_per_image() == source.columns) return images;
  throw Error(Fault::data, fmt::format("{}: has {} images of {} bytes, expected {} of {}", paths.at(0), images.count(),
                                       images.pixels_per_image(), source.rows, source.columns));
}

Table load(const std::string& name) { return load(entry(name)); }

std::string path(const std::string& name) {
  const Entry& known = entry(name);
  if (!known.sources.empty()) {
    const std::vector<std::string> paths = cached_paths(known, present_source(known));
    return paths.size() == 1 ? paths[0] : fs::path(paths[0]).parent_path().string();
  }
  const File file{.name = name + ".csv"};
  const std::string target = cached_path(known, file);
  const std::string_view content = embedded_csv(name);
  std::error_code failure;
  if (fs::is_regular_file(target, failure) && read_file(target) == content) return target;
  fs::create_directories(fs::path(target).parent_path(), failure);
  write_file_atomically(target, content);
  return target;
}

std::string_view embedded_csv(const std::string& name) {
  for (const embedded::File& file : embedded::data_sets()) {
    if (file.name == name + ".csv") return file.content;
  }
  return {};
}

}  // namespace lipschitzlr::data::catalogue

#include "lipschitzlr/data/image/image_sources.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/catalogue/catalogue.hpp"
#include "lipschitzlr/data/image/png_folder.hpp"

namespace lipschitzlr::data {
namespace {

ImageSet load_named(const catalogue::Entry& entry, Part part) {
  if (!entry.companion.empty() && entry.holds_images()) {
    return catalogue::load_images(part == Part::train ? entry : catalogue::entry(entry.companion));
  }
  for (const std::string& name : image_set_names()) {
    if (catalogue::entry(name).companion == entry.name) {
      throw Error(Fault::usage, fmt::format("{} is the test part of {}; name {} instead", entry.name, name, name));
    }
  }
  throw Error(Fault::usage, fmt::format("the data set {} holds no images; those that do are {}", entry.name,
                                        fmt::join(image_set_names(), ", ")));
}

}  // namespace

ImageSet load_images(const std::string& source, Part part) {
  if (const catalogue::Entry* entry = catalogue::find(source)) return load_named(*entry, part);
  std::error_code unreadable;
  if (std::filesystem::is_directory(source, unreadable)) return read_png_folder(source, part);
  if (std::filesystem::exists(source, unreadable)) {
    throw Error(Fault::data, fmt::format("{}: is a file, expected a folder with one folder of PNG files per class, or "
                                         "one of the image sets {}",
                                         source, fmt::join(image_set_names(), ", ")));
  }
  throw Error(Fault::data, fmt::format("{}: there is no such folder, and no image set of that name; known are {}",
                                       source, fmt::join(image_set_names(), ", ")));
}

std::vector<std::string> image_set_names() {
  std::vector<std::string> names;
  for (const catalogue::Entry& entry : catalogue::entries()) {
    if (entry.holds_images() && !entry.companion.empty()) names.push_back(entry.name);
  }
  return names;
}

}  // namespace lipschitzlr::data

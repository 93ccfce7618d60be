#include "lipschitzlr/data/image/png_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "data/fail.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/image/png.hpp"

namespace lipschitzlr::data {
namespace {

namespace fs = std::filesystem;

struct Picture {
  std::string path;
  std::int32_t label = 0;
};

struct Listing {
  std::vector<std::string> classes;
  std::vector<Picture> pictures;
};

// What is in a folder by name, without the hidden files that file managers leave behind.
std::vector<fs::path> sorted_content(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> content;
  for (fs::directory_iterator walk(folder, failure), end; !failure && walk != end; walk.increment(failure)) {
    if (!walk->path().filename().string().starts_with('.')) content.push_back(walk->path());
  }
  if (failure) fail(folder, fmt::format("can't be read: {}", failure.message()));
  std::sort(content.begin(), content.end());
  return content;
}

void list_class(const fs::path& folder, Listing& listing) {
  const auto label = static_cast<std::int32_t>(listing.classes.size());
  const std::size_t before = listing.pictures.size();
  for (const fs::path& path : sorted_content(folder)) {
    if (fs::is_directory(path)) fail(path, "is a folder inside the folder of a class, expected PNG files only");
    if (!fs::is_regular_file(path)) fail(path, "is not a file, expected PNG files only");  // a pipe would block
    listing.pictures.push_back({path, label});
  }
  if (listing.pictures.size() == before) fail(folder, "is the folder of a class, but holds no PNG files");
  listing.classes.push_back(folder.filename());
}

Listing list_part(const fs::path& folder) {
  Listing listing;
  for (const fs::path& path : sorted_content(folder)) {
    if (!fs::is_directory(path)) fail(path, "is a file beside the folders of the classes, expected folders only");
    list_class(path, listing);
  }
  if (listing.classes.empty()) fail(folder, "holds no images: expected one folder of PNG files per class");
  return listing;
}

PngShape shape_of(const Picture& picture) {
  std::string head(kPngHeader, '\0');
  std::ifstream file(picture.path, std::ios::binary);
  if (!file) fail(picture.path, "can't be opened");
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return png_shape(head, picture.path);
}

// One size for all, and colours when any picture has them.
void add_to_shape(const Listing& listing, PngShape& common, std::string& first) {
  for (const Picture& picture : listing.pictures) {
    const PngShape shape = shape_of(picture);
    if (first.empty()) {
      first = picture.path;
      common = shape;
    }
    if (shape.height != common.height || shape.width != common.width) {
      fail(picture.path, fmt::format("has {} x {} pixels, but {} has {} x {}; all must be of one size", shape.height,
                                     shape.width, first, common.height, common.width));
    }
    common.coloured = common.coloured || shape.coloured;
  }
}

ImageSet decode(const Listing& listing, const PngShape& shape) {
  ImageSet set{.height = shape.height, .width = shape.width, .channels = shape.channels(), .classes = listing.classes};
  set.pixels.reserve(listing.pictures.size() * static_cast<std::size_t>(set.pixels_per_image()));
  for (const Picture& picture : listing.pictures) {
    const std::vector<std::uint8_t> pixels = decode_png(read_file(picture.path), picture.path, set.channels);
    if (static_cast<Index>(pixels.size()) != set.pixels_per_image()) fail(picture.path, "changed while it was read");
    set.pixels.insert(set.pixels.end(), pixels.begin(), pixels.end());
    set.labels.push_back(picture.label);
  }
  return set;
}

void check_classes(const std::string& folder, const Listing& train, const Listing& test) {
  for (const std::string& name : test.classes) {
    if (!std::binary_search(train.classes.begin(), train.classes.end(), name)) {
      fail(folder, fmt::format("test has the class {}, which train does not have", name));
    }
  }
  for (const std::string& name : train.classes) {
    if (!std::binary_search(test.classes.begin(), test.classes.end(), name)) {
      fail(folder, fmt::format("train has the class {}, which test does not have", name));
    }
  }
}

}  // namespace

ImageSet read_png_folder(const std::string& folder, Part part) {
  const fs::path train_folder = fs::path(folder) / "train", test_folder = fs::path(folder) / "test";
  const bool has_train = fs::is_directory(train_folder), has_test = fs::is_directory(test_folder);
  if (has_test && !has_train) fail(folder, "has a folder test, but no folder train");
  PngShape shape;
  std::string first;
  const Listing train = list_part(has_train ? train_folder : fs::path(folder));
  Listing test{train.classes, {}};
  add_to_shape(train, shape, first);
  if (has_test) {
    test = list_part(test_folder);
    check_classes(folder, train, test);
    add_to_shape(test, shape, first);
  }
  return decode(part == Part::train ? train : test, shape);
}

}  // namespace lipschitzlr::data

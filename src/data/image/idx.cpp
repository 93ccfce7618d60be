#include "lipschitzlr/data/image/idx.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/fail.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

unsigned char byte_at(std::string_view content, std::size_t place) {
  return static_cast<unsigned char>(content[place]);
}

// Which of the two files of a set this is shows in its dimensions: three for images, one for labels.
void check_dimensions(const IdxArray& array, const std::string& name, std::size_t expected, const char* what) {
  if (array.sizes.size() == expected) return;
  const std::size_t found = array.sizes.size();
  const char* hint = found == 3   ? "it holds images: are the two files swapped?"
                     : found == 1 ? "it holds labels: are the two files swapped?"
                                  : "it is some other table";
  fail(name, fmt::format("byte 3: has {} dimensions, but {} have {}; {}", found, what, expected, hint));
}

}  // namespace

IdxArray parse_idx(std::string_view content, const std::string& name) {
  if (content.size() < 4 || byte_at(content, 0) != 0 || byte_at(content, 1) != 0) {
    fail(name, "not an IDX file (it must begin with two zero bytes)");
  }
  if (byte_at(content, 2) != 8) {
    fail(name, fmt::format("holds IDX values of type {}, but only type 8 (bytes) is read", byte_at(content, 2)));
  }
  IdxArray array;
  const std::size_t dimensions = byte_at(content, 3), header = 4 + 4 * dimensions;
  if (dimensions < 1 || dimensions > 3) fail(name, fmt::format("has {} dimensions, expected 1 to 3", dimensions));
  if (content.size() < header) {
    fail(name, fmt::format("ends at byte {}, inside its header of {} bytes", content.size(), header));
  }
  // Three 32-bit sizes may not fit 64 bits: their product stops growing once it is past the file's end.
  std::size_t total = 1;
  for (std::size_t i = 4; i < header; i += 4) {
    const std::size_t size = std::size_t{byte_at(content, i)} << 24 | std::size_t{byte_at(content, i + 1)} << 16 |
                             std::size_t{byte_at(content, i + 2)} << 8 | std::size_t{byte_at(content, i + 3)};
    array.sizes.push_back(static_cast<Index>(size));
    total = total > content.size() ? total : total * size;
  }
  array.values = content.substr(header);
  if (array.values.size() != total) {
    fail(name, fmt::format("holds {} values from byte {} on, but its header speaks of {}; the file is {}",
                           array.values.size(), header, total > content.size() ? "more" : std::to_string(total),
                           array.values.size() < total ? "cut short" : "too long"));
  }
  return array;
}

ImageSet parse_idx_images(const IdxFile& images, const IdxFile& labels, const std::vector<std::string>& classes) {
  const IdxArray pixels = parse_idx(images.content, images.name), numbers = parse_idx(labels.content, labels.name);
  check_dimensions(pixels, images.name, 3, "images");
  check_dimensions(numbers, labels.name, 1, "labels");
  if (pixels.sizes[0] != numbers.sizes[0]) {
    fail(labels.name, fmt::format("has {} labels, but {} has {} images; they do not belong together", numbers.sizes[0],
                                  images.name, pixels.sizes[0]));
  }
  if (pixels.values.empty()) {
    fail(images.name, fmt::format("has {} images of {} x {} pixels: there is nothing to learn from", pixels.sizes[0],
                                  pixels.sizes[1], pixels.sizes[2]));
  }
  ImageSet set{.height = pixels.sizes[1], .width = pixels.sizes[2], .channels = 1, .classes = classes};
  set.pixels.assign(pixels.values.begin(), pixels.values.end());
  set.labels.reserve(numbers.values.size());
  for (std::size_t record = 0; record < numbers.values.size(); ++record) {
    const unsigned char label = byte_at(numbers.values, record);
    if (!classes.empty() && label >= classes.size()) {
      fail(labels.name, fmt::format("record {} (byte {}) has the label {}, expected 0 to {}", record,
                                    labels.content.size() - numbers.values.size() + record, label, classes.size() - 1));
    }
    set.labels.push_back(label);
  }
  if (!classes.empty()) return set;
  const std::int32_t largest = *std::max_element(set.labels.begin(), set.labels.end());
  for (std::int32_t label = 0; label <= largest; ++label) set.classes.push_back(std::to_string(label));
  return set;
}

ImageSet read_idx_images(const std::string& images_path, const std::string& labels_path,
                         const std::vector<std::string>& classes) {
  const std::string images = read_file(images_path), labels = read_file(labels_path);
  return parse_idx_images({images, images_path}, {labels, labels_path}, classes);
}

Table read_idx_table(const std::string& images_path, const std::string& labels_path) {
  return image_table(read_idx_images(images_path, labels_path));
}

}  // namespace lipschitzlr::data

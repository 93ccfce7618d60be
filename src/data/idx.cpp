#include "lipschitzlr/data/idx.hpp"

#include <fmt/format.h>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::data {
namespace {

unsigned char byte_at(std::string_view content, std::size_t place) {
  return static_cast<unsigned char>(content[place]);
}

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw Error(Fault::data, fmt::format("{}: {}", name, reason));
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
  if (content.size() < header) fail(name, "ends inside its header");
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
    fail(name, fmt::format("holds {} values, but its header speaks of {}; the file is damaged", array.values.size(),
                           total > content.size() ? "more" : std::to_string(total)));
  }
  return array;
}

Table read_idx_table(const std::string& images_path, const std::string& labels_path) {
  const std::string images_content = read_file(images_path), labels_content = read_file(labels_path);
  const IdxArray images = parse_idx(images_content, images_path), labels = parse_idx(labels_content, labels_path);
  if (images.sizes.size() != 3) fail(images_path, "holds no images (they have three dimensions)");
  if (labels.sizes.size() != 1) fail(labels_path, "holds no labels (they have one dimension)");
  if (images.sizes[0] != labels.sizes[0]) {
    fail(labels_path, fmt::format("has {} labels for {} images", labels.sizes[0], images.sizes[0]));
  }
  const Index rows = images.sizes[0], height = images.sizes[1], width = images.sizes[2];
  using Bytes = Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto bytes = [](std::string_view values) { return reinterpret_cast<const unsigned char*>(values.data()); };
  Table table;
  table.features = Eigen::Map<const Bytes>(bytes(images.values), rows, height * width).cast<double>().eval();
  for (Index pixel = 0; pixel < height * width; ++pixel) {
    table.feature_names.push_back(fmt::format("pixel_{}_{}", pixel / width, pixel % width));
  }
  table.target = Eigen::Map<const Bytes>(bytes(labels.values), rows, 1).cast<double>();
  table.target_name = "label";
  make_classes(table);
  return table;
}

}  // namespace lipschitzlr::data

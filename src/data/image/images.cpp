#include "lipschitzlr/data/image/images.hpp"

#include <fmt/format.h>

#include <numeric>

namespace lipschitzlr::data {
namespace {

std::string pixel_name(const ImageSet& images, Index place) {
  static const char* const kColourNames[] = {"red", "green", "blue"};
  const Index pixel = place / images.channels;
  const std::string name = fmt::format("pixel_{}_{}", pixel / images.width, pixel % images.width);
  return images.channels == 1 ? name : fmt::format("{}_{}", name, kColourNames[place % images.channels]);
}

}  // namespace

std::vector<Index> all_images(const ImageSet& images) {
  std::vector<Index> indices(static_cast<std::size_t>(images.count()));
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

Table image_table(const ImageSet& images) {
  using Bytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Index columns = images.pixels_per_image();
  Table table;
  table.features = Eigen::Map<const Bytes>(images.pixels.data(), images.count(), columns).cast<double>().eval();
  for (Index place = 0; place < columns; ++place) table.feature_names.push_back(pixel_name(images, place));
  std::vector<Index> class_of(images.classes.size(), -1);
  for (std::int32_t label : images.labels) class_of.at(static_cast<std::size_t>(label)) = 0;
  for (std::size_t label = 0; label < class_of.size(); ++label) {
    if (class_of[label] < 0) continue;
    class_of[label] = static_cast<Index>(table.labels.size());
    table.labels.push_back(images.classes[label]);
  }
  table.target.resize(images.count());
  for (Index row = 0; row < images.count(); ++row) {
    const std::int32_t label = images.labels[static_cast<std::size_t>(row)];
    table.target(row) = static_cast<double>(class_of[static_cast<std::size_t>(label)]);
  }
  table.target_name = "label";
  return table;
}

}  // namespace lipschitzlr::data

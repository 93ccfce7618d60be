#include "lipschitzlr/data/image/cifar_picture.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/data/image/png.hpp"

namespace lipschitzlr::data {

std::string cifar_records(std::string_view picture, std::string_view labels, std::size_t first_label,
                          const std::string& name) {
  constexpr std::size_t kPixels = 1024, kColours = 3;
  const auto fail = [&](const std::string& reason) { throw Error(Fault::data, fmt::format("{}: {}", name, reason)); };
  const PngShape shape = png_shape(picture, name);
  if (shape.width != static_cast<Index>(kPixels) || !shape.coloured) {
    fail(fmt::format("is not a picture of CIFAR images: {} pixels wide, expected {} with colours", shape.width,
                     kPixels));
  }
  const std::vector<std::uint8_t> pixels = decode_png(picture, name, kColours);
  const nlohmann::json list = parse_json(labels, name + ": the list of labels");
  const std::size_t images = static_cast<std::size_t>(shape.height);
  if (!list.is_array() || list.size() < first_label + images) {
    fail(fmt::format("has {} images from number {} on, but the list of labels does not reach so far", images,
                     first_label));
  }
  std::string records;
  records.reserve(images * (1 + kColours * kPixels));
  for (std::size_t image = 0; image < images; ++image) {
    const nlohmann::json& label = list[first_label + image];
    if (!label.is_number_unsigned() || label.get<std::uint64_t>() > 9) {
      fail(fmt::format("label {} of its list is {}, expected 0 to 9", first_label + image, label.dump()));
    }
    records.push_back(static_cast<char>(label.get<int>()));
    const std::uint8_t* row = pixels.data() + image * kPixels * kColours;
    for (std::size_t colour = 0; colour < kColours; ++colour) {
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
        records.push_back(static_cast<char>(row[pixel * kColours + colour]));
      }
    }
  }
  return records;
}

}  // namespace lipschitzlr::data

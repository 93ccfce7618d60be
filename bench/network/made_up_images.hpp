#pragma once
// Images of noise, of the size of MNIST's or of CIFAR's: enough to measure time with.

#include <cstdint>
#include <string>

#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/image/images.hpp"

namespace lipschitzlr::bench {

inline data::ImageSet made_up_images(bool mnist, Index count) {
  data::ImageSet set{.height = mnist ? 28 : 32, .width = mnist ? 28 : 32, .channels = mnist ? 1 : 3};
  for (int label = 0; label < 10; ++label) set.classes.push_back(std::to_string(label));
  Random random(1);
  set.pixels.resize(static_cast<std::size_t>(count * set.pixels_per_image()));
  for (auto& pixel : set.pixels) pixel = static_cast<std::uint8_t>(random.bits());
  for (Index image = 0; image < count; ++image) set.labels.push_back(static_cast<std::int32_t>(image % 10));
  return set;
}

}  // namespace lipschitzlr::bench

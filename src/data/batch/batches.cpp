#include "lipschitzlr/data/batch/batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "data/batch/augment.hpp"
#include "data/batch/stream.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::data {
namespace {

constexpr Index kImagesPerTask = 8;

void require(bool good, const char* option, const char* range, double value) {
  if (!good)
    throw Error(Fault::usage, fmt::format("the {} of the augmentation must be {}, not {}", option, range, value));
}

// Pixels as the network sees them, before any change; mean may be null.
void normalise(const std::uint8_t* pixels, const float* mean, Index count, float* out) {
  if (mean) {
    for (Index i = 0; i < count; ++i) out[i] = static_cast<float>(pixels[i]) / 255.0f - mean[i];
  } else {
    for (Index i = 0; i < count; ++i) out[i] = static_cast<float>(pixels[i]) / 255.0f;
  }
}

// Calls work(first, last) for fixed blocks of the positions 0 ... count-1.
template <class Work>
void in_blocks(ThreadPool& pool, std::size_t count, const Work& work) {
  const auto total = static_cast<Index>(count);
  pool.run(static_cast<std::size_t>((total + kImagesPerTask - 1) / kImagesPerTask), [&](std::size_t task) {
    const Index first = static_cast<Index>(task) * kImagesPerTask;
    work(first, std::min(first + kImagesPerTask, total));
  });
}

}  // namespace

std::vector<float> mean_image(const ImageSet& images) {
  if (images.count() == 0) throw Error(Fault::data, "the mean of no images is undefined; choose a set that has some");
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(images.pixels_per_image()));
  const std::uint8_t* pixel = images.pixels.data();
  for (Index image = 0; image < images.count(); ++image) {
    for (std::uint64_t& sum : sums) sum += *pixel++;
  }
  const double whole = 255.0 * static_cast<double>(images.count());
  std::vector<float> mean;
  for (std::uint64_t sum : sums) mean.push_back(static_cast<float>(static_cast<double>(sum) / whole));
  return mean;
}

Batches::Batches(const ImageSet& images, std::vector<float> mean, const Augmentation& augmentation, std::uint64_t seed,
                 ThreadPool& pool)
    : images_(images), mean_(std::move(mean)), augmentation_(augmentation), seed_(seed), pool_(pool) {
  const auto& [shift, zoom, rotation, flip] = augmentation_;
  require(shift >= 0 && shift < 1, "shift", "a share of the image of at least 0 and below 1", shift);
  require(zoom >= 0 && zoom < 1, "zoom", "at least 0 and below 1", zoom);
  require(rotation >= 0 && rotation <= 180, "rotation", "between 0 and 180 degrees", rotation);
  if (!mean_.empty() && static_cast<Index>(mean_.size()) != images_.pixels_per_image()) {
    throw Error(Fault::usage, fmt::format("the mean image has {} numbers, but an image has {}; take both from one set",
                                          mean_.size(), images_.pixels_per_image()));
  }
}

void Batches::fill(std::span<const Index> chosen, std::int64_t epoch, float* out) const {
  if (augmentation_.none()) return fill_plain(chosen, out);
  const Index size = images_.pixels_per_image(), row_size = images_.width * images_.channels;
  const std::uint64_t stream = mix(seed_, epoch, kWarp);
  in_blocks(pool_, chosen.size(), [&](Index first, Index last) {
    Warper warper(images_.height, images_.width, images_.channels);
    for (Index i = first; i < last; ++i) {
      const Index image = chosen[static_cast<std::size_t>(i)];
      for (Index row = 0; row < images_.height; ++row) {
        normalise(images_.pixels.data() + image * size + row * row_size,
                  mean_.empty() ? nullptr : mean_.data() + row * row_size, row_size, warper.row(row));
      }
      Random random(mix(stream, static_cast<std::uint64_t>(image)));
      warper.warp(draw_warp(augmentation_, images_.height, images_.width, random), out + i * size);
    }
  });
}

void Batches::fill_plain(std::span<const Index> chosen, float* out) const {
  const Index size = images_.pixels_per_image();
  in_blocks(pool_, chosen.size(), [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      normalise(images_.pixels.data() + chosen[static_cast<std::size_t>(i)] * size,
                mean_.empty() ? nullptr : mean_.data(), size, out + i * size);
    }
  });
}

}  // namespace lipschitzlr::data

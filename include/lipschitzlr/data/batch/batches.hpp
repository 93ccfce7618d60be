#pragma once
// Images as what a network is trained on, from bytes to numbers: pixel/255 minus the mean image of the training set,
// changed at random as Keras's ImageDataGenerator does it (shift, zoom, rotation, flip; bilinear, nearest fill;
// method.md 4.7). Everything is a function of seed, epoch and image: no state, the same bits for any number of threads
// and after any resume.

#include <cstdint>
#include <span>
#include <vector>

#include "lipschitzlr/base/parallel.hpp"
#include "lipschitzlr/data/batch/examples.hpp"
#include "lipschitzlr/data/image/images.hpp"

namespace lipschitzlr::data {

struct Augmentation {
  double shift = 0;     // up to this share of height and width, either way
  double zoom = 0;      // height and width each by a factor in [1 - zoom, 1 + zoom]
  double rotation = 0;  // degrees, either way
  bool flip = false;    // left and right swapped, every second time
  bool none() const { return shift == 0 && zoom == 0 && rotation == 0 && !flip; }
};

// The mean of each pixel (of pixel/255) over the images; summed in whole numbers, so that it is exact.
std::vector<float> mean_image(const ImageSet& images);

class Batches : public Examples {
 public:
  // mean is empty (nothing is subtracted) or has a number per pixel. The set and the pool must outlive the object.
  // Throws Error (usage) on an augmentation out of range or a mean of another size.
  Batches(const ImageSet& images, std::vector<float> mean, const Augmentation& augmentation, std::uint64_t seed,
          ThreadPool& pool);

  Index count() const override { return images_.count(); }
  Shape shape() const override { return {images_.channels, images_.height, images_.width}; }
  Index classes() const override { return static_cast<Index>(images_.classes.size()); }
  double target(Index image) const override { return images_.labels[static_cast<std::size_t>(image)]; }
  void fill(std::span<const Index> chosen, std::int64_t epoch, float* out) const override;  // augmented
  void fill_plain(std::span<const Index> chosen, float* out) const override;

 private:
  const ImageSet& images_;
  std::vector<float> mean_;
  Augmentation augmentation_;
  std::uint64_t seed_;
  ThreadPool& pool_;
};

}  // namespace lipschitzlr::data

#pragma once
// The images and labels of one batch as tensors, filled by data::Batches: the channels of a pixel lie side by side.

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <span>
#include <vector>

#include "lipschitzlr/data/batch/batches.hpp"

namespace lipschitzlr::nn {

struct TrainingBatch {
  TrainingBatch(const data::ImageSet& images, Index count)
      : values(static_cast<std::size_t>(count * images.pixels_per_image())),
        tensor(at::from_blob(values.data(), {count, images.channels, images.height, images.width},
                             {images.pixels_per_image(), 1, images.width * images.channels, images.channels},
                             at::kFloat)),
        labels(at::empty({count}, at::kLong)) {}
  TrainingBatch(TrainingBatch&&) = default;  // which leaves the values where the tensor looks for them

  void label(const data::ImageSet& images, std::span<const Index> chosen) {
    auto* label = labels.data_ptr<std::int64_t>();
    for (const Index image : chosen) *label++ = images.labels[static_cast<std::size_t>(image)];
  }

  std::vector<float> values;
  at::Tensor tensor, labels;
};

// The batch of that number, from 0; the last one may be smaller.
inline std::span<const Index> batch_of(std::span<const Index> all, Index number, Index size) {
  const auto begin = static_cast<std::size_t>(number * size);
  return all.subspan(begin, std::min(static_cast<std::size_t>(size), all.size() - begin));
}

inline Index count_batches(std::size_t images, Index size) { return (static_cast<Index>(images) + size - 1) / size; }

inline Index count_correct(const at::Tensor& scores, const at::Tensor& labels) {
  return scores.argmax(1).eq(labels).sum().item<Index>();
}

}  // namespace lipschitzlr::nn

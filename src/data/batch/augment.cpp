#include "data/batch/augment.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lipschitzlr::data {
namespace {

// A coordinate held within the image, as the pixel before it and the weight of the next one.
struct Place {
  Index pixel;
  float weight;
};

Place place(double coordinate, Index size) {
  const double held = std::clamp(coordinate, 0.0, static_cast<double>(size - 1));
  const auto pixel = static_cast<Index>(held);
  return {pixel, static_cast<float>(held - static_cast<double>(pixel))};
}

}  // namespace

Warp draw_warp(const Augmentation& augmentation, Index height, Index width, Random& random) {
  const auto draw = [&](double range) { return range * (2 * random.uniform() - 1); };
  Warp warp;
  warp.angle = draw(augmentation.rotation * std::numbers::pi / 180);
  warp.row_shift = draw(augmentation.shift) * static_cast<double>(height);
  warp.column_shift = draw(augmentation.shift) * static_cast<double>(width);
  warp.row_zoom = 1 + draw(augmentation.zoom);
  warp.column_zoom = 1 + draw(augmentation.zoom);
  warp.flip = random.uniform() < 0.5 && augmentation.flip;
  return warp;
}

AffineMap affine_map(const Warp& warp, Index height, Index width) {
  const double cosine = std::cos(warp.angle), sine = std::sin(warp.angle);
  AffineMap map{cosine * warp.row_zoom, -sine * warp.column_zoom,  0,
                sine * warp.row_zoom,   cosine * warp.column_zoom, 0};
  // The centre of the Keras the paper was made with. It is a pixel too far; later versions take size / 2 - 0.5.
  const double row = static_cast<double>(height) / 2 + 0.5, column = static_cast<double>(width) / 2 + 0.5;
  map.row_offset =
      cosine * warp.row_shift - sine * warp.column_shift + row - (map.row_by_row * row + map.row_by_column * column);
  map.column_offset = sine * warp.row_shift + cosine * warp.column_shift + column -
                      (map.column_by_row * row + map.column_by_column * column);
  return map;
}

Warper::Warper(Index height, Index width, Index channels)
    : height_(height),
      width_(width),
      channels_(channels),
      stride_((width + 1) * channels),
      image_(static_cast<std::size_t>((height + 1) * stride_)),
      blended_(static_cast<std::size_t>(3 * width * channels)),
      source_rows_(static_cast<std::size_t>(width)),
      source_columns_(static_cast<std::size_t>(width)),
      row_weights_(static_cast<std::size_t>(width)),
      column_weights_(static_cast<std::size_t>(width)) {}

void Warper::warp(const Warp& warp, float* out) {
  if (warp.moves_only() && std::abs(warp.column_shift) < static_cast<double>(width_)) {
    warp_by_moving(warp, out);
  } else {
    warp_in_general(warp, out);
  }
}

// Weights are the same for a whole row: one loop blends two rows, one that row with itself a pixel further.
void Warper::warp_by_moving(const Warp& warp, float* out) {
  const Index row_size = width_ * channels_;
  const auto first = static_cast<Index>(std::floor(warp.column_shift));  // the old column of column 0
  const auto column_weight = static_cast<float>(warp.column_shift - static_cast<double>(first));
  float* const middle = blended_.data() + row_size;
  const float* const left = middle + first * channels_;
  const float* const right = left + channels_;
  for (Index row = 0; row < height_; ++row, out += row_size) {
    const auto [above, row_weight] = place(static_cast<double>(row) + warp.row_shift, height_);
    const float* const upper = image_.data() + above * stride_;
    const float* const lower = upper + stride_;
    for (Index i = 0; i < row_size; ++i) middle[i] = upper[i] + row_weight * (lower[i] - upper[i]);
    for (Index i = first; i < 0; ++i) std::copy_n(middle, channels_, middle + i * channels_);
    for (Index i = 0; i <= first; ++i) {
      std::copy_n(middle + row_size - channels_, channels_, middle + row_size + i * channels_);
    }
    for (Index i = 0; i < row_size; ++i) out[i] = left[i] + column_weight * (right[i] - left[i]);
    if (warp.flip) flip_row(out);
  }
}

void Warper::find_sources(const AffineMap& map, Index row) {
  const double first_row = map.row_by_row * static_cast<double>(row) + map.row_offset;
  const double first_column = map.column_by_row * static_cast<double>(row) + map.column_offset;
  const double last_row = static_cast<double>(height_ - 1), last_column = static_cast<double>(width_ - 1);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(width_); ++i) {
    const double old_row = std::min(std::max(first_row + map.row_by_column * i, 0.0), last_row);
    const double old_column = std::min(std::max(first_column + map.column_by_column * i, 0.0), last_column);
    source_rows_[i] = static_cast<std::int32_t>(old_row);
    source_columns_[i] = static_cast<std::int32_t>(old_column);
    row_weights_[i] = static_cast<float>(old_row - source_rows_[i]);
    column_weights_[i] = static_cast<float>(old_column - source_columns_[i]);
  }
}

// The number of channels, known when compiled; 0: any.
template <Index kChannels>
void Warper::blend_row(float* out) const {
  const Index channels = kChannels == 0 ? channels_ : kChannels;
  for (std::size_t i = 0; i < source_rows_.size(); ++i, out += channels) {
    const float* const upper = image_.data() + source_rows_[i] * stride_ + source_columns_[i] * channels;
    const float* const lower = upper + stride_;
    for (Index k = 0; k < channels; ++k) {
      const float top = upper[k] + column_weights_[i] * (upper[channels + k] - upper[k]);
      const float bottom = lower[k] + column_weights_[i] * (lower[channels + k] - lower[k]);
      out[k] = top + row_weights_[i] * (bottom - top);
    }
  }
}

void Warper::warp_in_general(const Warp& warp, float* out) {
  const AffineMap map = affine_map(warp, height_, width_);
  for (Index row = 0; row < height_; ++row, out += width_ * channels_) {
    find_sources(map, row);
    if (channels_ == 1) {
      blend_row<1>(out);
    } else if (channels_ == 3) {
      blend_row<3>(out);
    } else {
      blend_row<0>(out);
    }
    if (warp.flip) flip_row(out);
  }
}

void Warper::flip_row(float* row) const {
  float* left = row;
  float* right = row + (width_ - 1) * channels_;
  for (; left < right; left += channels_, right -= channels_) std::swap_ranges(left, left + channels_, right);
}

}  // namespace lipschitzlr::data

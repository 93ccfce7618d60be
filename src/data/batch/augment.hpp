#pragma once
// The change of one image as Keras's ImageDataGenerator defines it: the value at row r, column c of the new image is
// that of the old one at M (r, c) + offset, M = rotation * zoom about the centre, moved by the shift; bilinear between
// the four pixels around, the nearest border pixel outside; left and right are swapped last.

#include <cstdint>
#include <span>
#include <vector>

#include "lipschitzlr/base/random.hpp"
#include "lipschitzlr/data/batch/batches.hpp"

namespace lipschitzlr::data {

struct Warp {
  double angle = 0;                        // radians
  double row_shift = 0, column_shift = 0;  // pixels
  double row_zoom = 1, column_zoom = 1;    // above 1 the object gets smaller
  bool flip = false;
  bool moves_only() const { return angle == 0 && row_zoom == 1 && column_zoom == 1; }
};

// Takes as many numbers from random whatever the augmentation.
Warp draw_warp(const Augmentation& augmentation, Index height, Index width, Random& random);

// Old row = row_by_row * r + row_by_column * c + row_offset, and likewise the old column.
struct AffineMap {
  double row_by_row, row_by_column, row_offset;
  double column_by_row, column_by_column, column_offset;
};
AffineMap affine_map(const Warp& warp, Index height, Index width);

// Room for one image to be read from and the tables of a row; one per thread at work, used again for every image.
class Warper {
 public:
  Warper(Index height, Index width, Index channels);

  // Where to put row of the image before it is warped: width * channels numbers.
  float* row(Index row) { return image_.data() + row * stride_; }

  // Warps the image that was put in to out, height * width * channels numbers.
  void warp(const Warp& warp, float* out);
  // The same for any warp, without the short cut for one that only moves.
  void warp_in_general(const Warp& warp, float* out);

 private:
  void warp_by_moving(const Warp& warp, float* out);
  void find_sources(const AffineMap& map, Index row);
  template <Index kChannels>
  void blend_row(float* out) const;
  void flip_row(float* row) const;

  Index height_, width_, channels_, stride_;
  std::vector<float> image_;    // a column and a row of zeros follow the last ones: their weight is always 0
  std::vector<float> blended_;  // two rows blended to one, the border pixels repeated on both sides
  std::vector<std::int32_t> source_rows_, source_columns_;
  std::vector<float> row_weights_, column_weights_;  // of the pixel below and to the right
};

}  // namespace lipschitzlr::data

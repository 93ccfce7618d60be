#pragma once
// What a network is trained on: examples of one shape, images or the rows of a table, each with a target. They come as
// the numbers a network is fed with, batch by batch.

#include <cstdint>
#include <span>
#include <vector>

#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::data {

class Examples {
 public:
  struct Shape {
    Index channels = 1, height = 1, width = 1;  // the row of a table has its features as channels of one pixel

    Index size() const { return channels * height * width; }
  };

  virtual ~Examples() = default;
  virtual Index count() const = 0;
  virtual Shape shape() const = 0;
  virtual Index classes() const = 0;               // 0: the targets are numbers
  virtual double target(Index example) const = 0;  // the class, from 0, or the number

  // One batch, example by example, the channels of a pixel side by side; out has room for chosen.size() of them.
  virtual void fill(std::span<const Index> chosen, std::int64_t epoch, float* out) const = 0;  // to train on
  virtual void fill_plain(std::span<const Index> chosen, float* out) const = 0;                // as they are
};

// The given examples in the order of an epoch: shuffled by seed and epoch.
std::vector<Index> epoch_order(std::span<const Index> examples, std::uint64_t seed, std::int64_t epoch);

// 0, 1, ... count() - 1.
std::vector<Index> all_of(const Examples& examples);

}  // namespace lipschitzlr::data

#pragma once
// A sparse binary matrix by columns: for every chunk of rows the rows of each column, two bytes a value. Made once, for
// full passes over binary data, where it halves the time of the gradient.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/objective_plan.hpp"

namespace lipschitzlr::linear {

class ColumnIndex {
 public:
  ColumnIndex() = default;
  // Stays empty where it would not pay: too many rows in a chunk for two bytes, or columns with hardly a row in a
  // chunk.
  ColumnIndex(const Plan& plan, std::size_t rows, std::size_t features, const std::int32_t* starts,
              const std::int32_t* columns);

  bool empty() const { return members_.empty(); }
  const std::uint16_t* members() const { return members_.data(); }
  const std::int32_t* starts(std::size_t chunk) const { return starts_.data() + chunk * (features_ + 1); }

 private:
  std::size_t features_ = 0;
  std::vector<std::uint16_t> members_;
  std::vector<std::int32_t> starts_;  // features + 1 for each chunk
};

}  // namespace lipschitzlr::linear

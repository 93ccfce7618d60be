#include "linear/column_index.hpp"

#include <algorithm>
#include <limits>

namespace lipschitzlr::linear {
namespace {

constexpr std::size_t kLeastMembers = 8;  // of a column in a chunk, on average: fewer do not make up for the starts

}  // namespace

ColumnIndex::ColumnIndex(const Plan& plan, std::size_t rows, std::size_t features, const std::int32_t* starts,
                         const std::int32_t* columns)
    : features_(features) {
  const auto stored = static_cast<std::size_t>(starts[rows]);
  if (plan.rows_per_chunk > std::numeric_limits<std::uint16_t>::max()) return;
  if (kLeastMembers * plan.chunks * features > stored) return;
  members_.resize(stored);
  starts_.resize(plan.chunks * (features + 1));
  std::vector<std::int32_t> next(features);
  for (std::size_t chunk = 0; chunk < plan.chunks; ++chunk) {
    const std::size_t first = chunk * plan.rows_per_chunk;
    const std::size_t last = std::min(rows, first + plan.rows_per_chunk);
    std::int32_t* const begin = starts_.data() + chunk * (features + 1);
    for (std::int32_t cell = starts[first]; cell < starts[last]; ++cell) ++begin[columns[cell] + 1];
    begin[0] = starts[first];
    for (std::size_t j = 0; j < features; ++j) begin[j + 1] += begin[j];
    std::copy(begin, begin + features, next.begin());
    for (std::size_t row = first; row < last; ++row) {
      for (std::int32_t cell = starts[row]; cell < starts[row + 1]; ++cell) {
        members_[static_cast<std::size_t>(next[static_cast<std::size_t>(columns[cell])]++)] =
            static_cast<std::uint16_t>(row - first);
      }
    }
  }
}

}  // namespace lipschitzlr::linear

#include "lipschitzlr/data/batch/examples.hpp"

#include <numeric>

#include "data/batch/stream.hpp"
#include "lipschitzlr/base/random.hpp"

namespace lipschitzlr::data {

std::vector<Index> epoch_order(std::span<const Index> examples, std::uint64_t seed, std::int64_t epoch) {
  std::vector<Index> shuffled(examples.begin(), examples.end());
  Random(mix(seed, epoch, kOrder)).shuffle(std::span(shuffled));
  return shuffled;
}

std::vector<Index> all_of(const Examples& examples) {
  std::vector<Index> all(static_cast<std::size_t>(examples.count()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace lipschitzlr::data

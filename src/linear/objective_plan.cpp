#include "linear/objective_plan.hpp"

#include <algorithm>

namespace lipschitzlr::linear {
namespace {

constexpr double kWorthSharing = 256 * 1024;     // less work is done before a second thread has woken up
constexpr double kChunkWork = 128 * 1024;        // a few microseconds
constexpr std::size_t kMostChunks = 64;          // enough to keep tens of threads evenly busy
constexpr std::size_t kRowStep = 16;             // chunks are made of whole vectors of rows
constexpr std::size_t kMostBytes = 64u << 20;    // of partial gradients,
constexpr std::size_t kFewChunks = 4;            // or this many gradients, however large one is
constexpr double kWorkPerNumber = 16;            // clearing and adding a partial gradient should cost little beside
constexpr std::size_t kStripNumbers = 2048;      // of one task of the reduction
constexpr std::size_t kSharedNumbers = 1 << 17;  // a reduction of fewer is done in place

}  // namespace

Plan make_plan(std::size_t rows, double work, std::size_t gradient_size, std::size_t gradient_bytes) {
  if (work < kWorthSharing) return {rows, 1};
  const double by_work = std::min(work / kChunkWork, work / (kWorkPerNumber * static_cast<double>(gradient_size)));
  const std::size_t by_memory = std::max(kFewChunks, kMostBytes / gradient_bytes);
  const std::size_t most = std::min(kMostChunks, by_memory);
  const std::size_t wanted = by_work >= static_cast<double>(most) ? most : static_cast<std::size_t>(by_work);
  if (wanted <= 1) return {rows, 1};
  const std::size_t share = (rows + wanted - 1) / wanted;
  const std::size_t per_chunk = (share + kRowStep - 1) / kRowStep * kRowStep;
  return {per_chunk, (rows + per_chunk - 1) / per_chunk};
}

template <class Scalar>
void add_up(Scalar* gradients, std::size_t chunks, std::size_t size, ThreadPool& pool) {
  if (chunks <= 1) return;
  struct Work {
    Scalar* gradients;
    std::size_t chunks, size;
  } const work{gradients, chunks, size};
  const auto strip = [&work](std::size_t number) {
    const std::size_t begin = number * kStripNumbers;
    const std::size_t count = std::min(kStripNumbers, work.size - begin);
    double sums[kStripNumbers] = {};
    for (std::size_t chunk = 0; chunk < work.chunks; ++chunk) {
      const Scalar* const from = work.gradients + chunk * work.size + begin;
      for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(from[i]);
    }
    for (std::size_t i = 0; i < count; ++i) work.gradients[begin + i] = static_cast<Scalar>(sums[i]);
  };
  const std::size_t strips = (size + kStripNumbers - 1) / kStripNumbers;
  if (chunks * size >= kSharedNumbers) {
    pool.run(strips, strip);
  } else {
    for (std::size_t number = 0; number < strips; ++number) strip(number);
  }
}

template void add_up(float* gradients, std::size_t chunks, std::size_t size, ThreadPool& pool);
template void add_up(double* gradients, std::size_t chunks, std::size_t size, ThreadPool& pool);

}  // namespace lipschitzlr::linear

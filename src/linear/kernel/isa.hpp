// All kernels, compiled for the instruction set of the including source, which names it: LIPSCHITZLR_ISA_SPACE (the
// namespace) and LIPSCHITZLR_ISA_LABEL (what the user sees). Nothing here may come from a shared template or inline
// function: the linker keeps one copy of those, and it could be one that the processor can't run.

#include <cstddef>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "linear/kernel/kernel.hpp"

namespace lipschitzlr::linear::kernel::LIPSCHITZLR_ISA_SPACE {
namespace {

// What fits into 32 registers, or into 16: outputs of a group, vectors of a strip, sums of a tile.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr std::size_t kGroup = 5, kStrip = 4, kTile = 24;
#else
constexpr std::size_t kGroup = 3, kStrip = 3, kTile = 12;
#endif

// In this order: they build on one another.
// clang-format off
#include "base/vector.hpp"
#include "linear/kernel/losses.hpp"
#include "linear/kernel/lanes.hpp"
#include "linear/kernel/dense.hpp"
#include "linear/kernel/sparse.hpp"
// clang-format on

template <class T, Vec<T> (*Function)(Vec<T>)>
void map(std::size_t count, const T* in, T* out) {
  for (std::size_t i = 0; i < count; i += kLanes<T>) {
    const std::size_t some = count - i < kLanes<T> ? count - i : kLanes<T>;
    const Vec<T> value = Function(some < kLanes<T> ? load_some(in + i, some) : load<Vec<T>>(in + i));
    for (std::size_t lane = 0; lane < some; ++lane) out[i + lane] = value[lane];
  }
}

template <class T>
constexpr Kernels<T> table() {
  return {
      LIPSCHITZLR_ISA_LABEL,
      {dense_packed_size<T>, scratch_size<T>, dense_pack<T>, dense_unpack<T>, dense_evaluate<T>, dense_scores<T>},
      {sparse_packed_size<T>, scratch_size<T>, sparse_pack<T>, sparse_unpack<T>, sparse_evaluate<T>, sparse_scores<T>},
      lanes_size<T>,
      fill_lanes<T>,
      map<T, exp_vector<T>>,
      map<T, log1p_vector<T>>};
}

}  // namespace

const Kernels<float> kFloat = table<float>();
const Kernels<double> kDouble = table<double>();

}  // namespace lipschitzlr::linear::kernel::LIPSCHITZLR_ISA_SPACE

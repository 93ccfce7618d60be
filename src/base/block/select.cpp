#include "base/block/block.hpp"
#include "base/instruction_set.hpp"

namespace lipschitzlr::block {

const Kernels& kernels() {
  switch (instruction_set()) {
#if defined(__x86_64__)
    case InstructionSet::avx512:
      return avx512::kKernels;
    case InstructionSet::avx2:
      return avx2::kKernels;
#endif
    default:
      return base::kKernels;
  }
}

}  // namespace lipschitzlr::block

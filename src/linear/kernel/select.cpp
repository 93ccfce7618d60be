#include "base/instruction_set.hpp"
#include "linear/kernel/kernel.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {
namespace kernel {

template <>
const Kernels<float>& kernels<float>() {
  switch (instruction_set()) {
#if defined(__x86_64__)
    case InstructionSet::avx512:
      return avx512::kFloat;
    case InstructionSet::avx2:
      return avx2::kFloat;
#endif
    default:
      return base::kFloat;
  }
}

template <>
const Kernels<double>& kernels<double>() {
  switch (instruction_set()) {
#if defined(__x86_64__)
    case InstructionSet::avx512:
      return avx512::kDouble;
    case InstructionSet::avx2:
      return avx2::kDouble;
#endif
    default:
      return base::kDouble;
  }
}

}  // namespace kernel

std::string kernel_isa() { return name_of(instruction_set()); }

}  // namespace lipschitzlr::linear

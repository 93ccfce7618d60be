#pragma once
// The instruction sets that kernels are compiled for, each from the same source, and the one that is used.

namespace lipschitzlr {

enum class InstructionSet { base, avx2, avx512 };  // base: SSE2 on x86-64, NEON on 64-bit ARM

const char* name_of(InstructionSet set);  // as LIPSCHITZLR_ISA has it

// The best one the processor has, or the one that the environment variable LIPSCHITZLR_ISA names (throws Error (usage)
// when that is unknown or the processor lacks it).
InstructionSet instruction_set();

}  // namespace lipschitzlr

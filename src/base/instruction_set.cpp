#include "base/instruction_set.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

// From the slowest to the fastest.
std::vector<InstructionSet> supported_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::base};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx2) sets.push_back(InstructionSet::avx2);
  if (avx512) sets.push_back(InstructionSet::avx512);
#endif
  return sets;
}

}  // namespace

const char* name_of(InstructionSet set) {
  if (set == InstructionSet::avx512) return "avx512";
  if (set == InstructionSet::avx2) return "avx2";
#if defined(__aarch64__)
  return "neon";
#else
  return "plain";
#endif
}

InstructionSet instruction_set() {
  const std::vector<InstructionSet> supported = supported_sets();
  const char* wanted = std::getenv("LIPSCHITZLR_ISA");
  if (wanted == nullptr || *wanted == '\0') return supported.back();
  std::string names;
  for (const InstructionSet set : supported) {
    if (std::string(wanted) == name_of(set)) return set;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(set));
  }
  throw Error(Fault::usage, fmt::format("LIPSCHITZLR_ISA={}: this processor and build offer {}; use one of them or "
                                        "unset the variable",
                                        wanted, names));
}

}  // namespace lipschitzlr

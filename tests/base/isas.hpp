#pragma once
// The instruction sets the kernels must run with on this processor, asked of the processor itself and not of the code
// under test: none can be left out silently.

#include <cstdlib>
#include <string>
#include <vector>

namespace lipschitzlr::test {

inline std::vector<std::string> expected_isas() {
#if defined(__x86_64__)
  std::vector<std::string> names = {"plain"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    names.push_back("avx512");
  }
  return names;
#elif defined(__aarch64__)
  return {"neon"};
#else
  return {"plain"};
#endif
}

// Selects an instruction set for as long as it lives.
class Isa {
 public:
  explicit Isa(const std::string& name) { setenv("LIPSCHITZLR_ISA", name.c_str(), 1); }
  ~Isa() { unsetenv("LIPSCHITZLR_ISA"); }
};

}  // namespace lipschitzlr::test

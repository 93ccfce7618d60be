#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

#include "linear/kernel/kernel.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/linear/objective.hpp"

namespace lipschitzlr::linear {
namespace kernel {
namespace {

struct Choice {
  const Kernels<float>* single;
  const Kernels<double>* twice;
  bool supported;
};

// From the slowest to the fastest.
auto choices() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return std::to_array<Choice>({{&base::kFloat, &base::kDouble, true},
                                {&avx2::kFloat, &avx2::kDouble, avx2},
                                {&avx512::kFloat, &avx512::kDouble, avx512}});
#else
  return std::to_array<Choice>({{&base::kFloat, &base::kDouble, true}});
#endif
}

Choice choose() {
  const auto known = choices();
  Choice best = known[0];
  std::string names;
  const char* wanted = std::getenv("LIPSCHITZLR_ISA");
  for (const Choice& choice : known) {
    if (!choice.supported) continue;
    best = choice;
    if (wanted != nullptr && std::string(wanted) == choice.single->name) return choice;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", choice.single->name);
  }
  if (wanted == nullptr || *wanted == '\0') return best;
  throw Error(Fault::usage, fmt::format("LIPSCHITZLR_ISA={}: this processor and build offer {}; use one of them or "
                                        "unset the variable",
                                        wanted, names));
}

}  // namespace

template <>
const Kernels<float>& kernels<float>() {
  return *choose().single;
}

template <>
const Kernels<double>& kernels<double>() {
  return *choose().twice;
}

}  // namespace kernel

std::string kernel_isa() { return kernel::kernels<double>().name; }

}  // namespace lipschitzlr::linear

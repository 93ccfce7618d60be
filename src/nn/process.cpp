#include "lipschitzlr/nn/process.hpp"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace lipschitzlr::nn {
namespace {

// Which BLAS libtorch loaded is the system's choice (Debian's alternatives), so OpenBLAS is asked for by name.
template <class Function>
Function* find_symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

int count_cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace

void use_cores(unsigned threads) {
  at::set_num_threads(threads == 0 ? count_cores() : static_cast<int>(threads));
  if (auto* set_threads = find_symbol<void(int)>("openblas_set_num_threads")) set_threads(1);
}

std::string libtorch_complaint(const std::exception& error) {
  const auto* own = dynamic_cast<const c10::Error*>(&error);
  return own == nullptr ? error.what() : own->what_without_backtrace();
}

ProcessFacts process_facts() {
  ProcessFacts facts;
  facts.libtorch_version = TORCH_VERSION;
#if AT_PARALLEL_OPENMP
  facts.parallel_backend = "OpenMP";
#else
  facts.parallel_backend = "libtorch's own";
#endif
  facts.threads = at::get_num_threads();
  facts.cores = count_cores();
  facts.blas = "not OpenBLAS: slow; install libopenblas0-pthread";
  if (auto* config = find_symbol<char*()>("openblas_get_config")) facts.blas = config();
  if (auto* threads = find_symbol<int()>("openblas_get_num_threads")) facts.blas_threads = threads();
  if (const char* looks = std::getenv("GOMP_SPINCOUNT")) facts.wait_policy = std::string(looks) + " looks";
  if (const char* policy = std::getenv("OMP_WAIT_POLICY")) facts.wait_policy = policy;
  return facts;
}

}  // namespace lipschitzlr::nn

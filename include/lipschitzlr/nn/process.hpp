#pragma once
// How a process that computes with libtorch is set up, and what it then looks like. The settings are the process's, not
// the library's: only the program lipschitzlr-torch makes them.

#include <exception>
#include <string>

namespace lipschitzlr::nn {

// So many threads, or as many as the machine has cores (libtorch takes half of them); one for OpenBLAS, whose own
// threads would stand in the way of those.
void use_cores(unsigned threads = 0);

// What libtorch complains of in one sentence, without its list of stack frames.
std::string libtorch_complaint(const std::exception& error);

struct ProcessFacts {
  std::string libtorch_version;
  std::string parallel_backend;  // "OpenMP"
  int threads = 0;
  int cores = 0;
  std::string blas;         // "OpenBLAS 0.3.21 ...", or that of libtorch's own description
  int blas_threads = 0;     // 0: not known
  std::string wait_policy;  // of OpenMP's idle threads, as in the environment: "passive", "1000 looks"; empty: not set
};
ProcessFacts process_facts();

}  // namespace lipschitzlr::nn

#pragma once
// What the machine can do at best, measured with the same pool of threads: bytes read from memory per second, and
// floating-point operations (a fused multiply-add counts two) per second.

#include <cstddef>

#include "lipschitzlr/base/parallel.hpp"

namespace lipschitzlr::bench {

// The best of a few passes over the given bytes.
double read_bandwidth(const void* data, std::size_t bytes, ThreadPool& pool);

template <class Scalar>
double peak_flops(ThreadPool& pool);

}  // namespace lipschitzlr::bench

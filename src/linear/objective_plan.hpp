#pragma once
// How the rows of one evaluation are cut into chunks, each added up serially into a gradient of its own, and how those
// gradients become one. Both depend on the problem's size only, never on the threads: that fixes every bit.

#include <cstddef>

#include "lipschitzlr/base/parallel.hpp"

namespace lipschitzlr::linear {

struct Plan {
  std::size_t rows_per_chunk;
  std::size_t chunks;
};

// work: multiplications and additions of one pass, roughly; gradient_bytes and gradient_size: of one partial gradient.
Plan make_plan(std::size_t rows, double work, std::size_t gradient_size, std::size_t gradient_bytes);

// Adds up chunks x size numbers (one gradient after another) into the first one: in double, in the order of the chunks.
template <class Scalar>
void add_up(Scalar* gradients, std::size_t chunks, std::size_t size, ThreadPool& pool);

}  // namespace lipschitzlr::linear

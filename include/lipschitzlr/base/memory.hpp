#pragma once
// How a program uses memory. The setting is the process', not the library's: only our programs make it.

#include <cstdint>

namespace lipschitzlr {

// Bytes that the machine has, or the container that the process runs in.
std::uint64_t machine_memory();

// Call before anything is allocated: memory given back to the system after every step must be cleared again by it.
void keep_memory();

}  // namespace lipschitzlr

#pragma once
// How a program uses memory. The setting is the process', not the library's: only our programs make it.

namespace lipschitzlr {

// Call before anything is allocated: memory given back to the system after every step must be cleared again by it.
void keep_memory();

}  // namespace lipschitzlr

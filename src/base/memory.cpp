#include "lipschitzlr/base/memory.hpp"

#include <malloc.h>

namespace lipschitzlr {

void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace lipschitzlr

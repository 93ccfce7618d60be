#include "lipschitzlr/base/memory.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace lipschitzlr {

std::uint64_t machine_memory() {
  const auto all =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t limit = 0;  // "max" is no number
  return std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0 ? std::min(all, limit) : all;
}

void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

}  // namespace lipschitzlr

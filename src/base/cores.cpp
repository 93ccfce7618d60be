#include "lipschitzlr/base/cores.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "lipschitzlr/base/collective.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr {

unsigned processes_here(Communicator& communicator) {
  // Processes with the same number were started by the same kernel, and share its cores.
  const std::size_t machine = std::hash<std::string>()(read_file("/proc/sys/kernel/random/boot_id")) >> 12;
  const auto own = static_cast<double>(machine);
  const std::vector<double> machines = all_gather(&communicator, {own});
  return static_cast<unsigned>(std::count(machines.begin(), machines.end(), own));
}

unsigned share_of_cores(Communicator& communicator) {
  return std::max(1u, std::thread::hardware_concurrency() / processes_here(communicator));
}

unsigned threads_beside(Communicator* communicator, unsigned wanted) {
  const unsigned share = communicator != nullptr ? share_of_cores(*communicator) : 0;
  return wanted > 0 ? wanted : share;
}

}  // namespace lipschitzlr

#pragma once
// The real team: processes on one or more machines, joined by libtorch's process group (c10d on Gloo). Sums go round a
// ring, so that every process adds in the same order and gets the same bits.

#include <memory>
#include <string>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/dist/surroundings.hpp"

namespace lipschitzlr::dist {

// Comes back when all processes are there. Throws Error: usage when the processes don't fit together (token, world
// size, a rank taken twice) or the port is busy, training when one does not come in time or is lost. With one process
// the team is that process, and no port is opened.
std::unique_ptr<Communicator> connect(const Surroundings& surroundings);

// What the libtorch that was loaded says of itself, its version among it, but not of the processor: unlike machines may
// work together.
std::string libtorch_build();

}  // namespace lipschitzlr::dist

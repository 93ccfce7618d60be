#pragma once
// The communicator of processes on one or more machines, joined by libtorch's process group (c10d on Gloo). Sums go
// round a ring, so that every process adds in the same order and gets the same bits.

#include <memory>
#include <string>

#include "lipschitzlr/base/communicator.hpp"
#include "lipschitzlr/dist/world_env.hpp"

namespace lipschitzlr::dist {

// Returns when all processes have joined. Throws Error: usage when the processes don't fit together (token, world size,
// a rank taken twice) or the port is busy, training when one does not connect in time or is lost. With one process no
// port is opened.
std::unique_ptr<Communicator> connect(const WorldEnv& world);

// Version and build settings of the libtorch that was loaded, without the processor: different machines may work
// together.
std::string libtorch_build();

}  // namespace lipschitzlr::dist

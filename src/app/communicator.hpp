#pragma once
// The processes that were started together with this one, for the commands that can share their work with others.

#include <memory>

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr::app {

// As the environment says (dist/world_env.hpp); null when this process was started alone. Throws Error as
// dist::connect, and Error (usage) when another process runs another program or libtorch.
std::unique_ptr<Communicator> join_communicator();

}  // namespace lipschitzlr::app

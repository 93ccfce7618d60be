#pragma once
// How many threads a process gets when none are asked for.

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr {

// The cores of this machine, divided among the processes of the group that run on it, but at least one. Collective.
unsigned share_of_cores(Communicator& communicator);

}  // namespace lipschitzlr

#pragma once
// How many threads a process gets when none are asked for, and what else processes on one machine share.

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr {

// Those of the group that run on this machine. Collective.
unsigned processes_here(Communicator& communicator);

// The cores of this machine, divided among the processes of the group that run on it, but at least one. Collective.
unsigned share_of_cores(Communicator& communicator);

// As many as wanted, or with 0 the share of the cores; without a communicator what is wanted, where 0 means all. Each
// process may have a wish of its own. Collective.
unsigned threads_beside(Communicator* communicator, unsigned wanted);

}  // namespace lipschitzlr

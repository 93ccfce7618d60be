#pragma once
// The commands of the libtorch part.

#include "app/command.hpp"

namespace lipschitzlr::app {

Command network_train_command();
Command network_evaluate_command();
Command probe_command();      // hidden: the front command asks how fast networks train
Command torch_env_command();  // what libtorch computes with

}  // namespace lipschitzlr::app

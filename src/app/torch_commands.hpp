#pragma once
// The commands of the libtorch part, one file each; a command that does not end with 0 says so in exit_code.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lipschitzlr::app {

void add_train_command(CLI::App& app, const std::vector<std::string>& words, int& exit_code);
void add_network_evaluate_command(CLI::App& app);
void add_probe_command(CLI::App& app);  // hidden: the front command asks it how fast networks train

}  // namespace lipschitzlr::app

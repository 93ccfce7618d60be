#pragma once
// The sub-commands, one file each. A command reads its options, calls the library and prints; errors are thrown and
// main turns them into a line and an exit code. The callback's answer to "how did it go" is the exit code it stores.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lipschitzlr/base/communicator.hpp"

namespace lipschitzlr::app {

// Joins the processes that were started together with this one; null when it is alone.
using Connect = std::function<std::unique_ptr<Communicator>()>;

void add_rate_command(CLI::App& app);
// words: of the command line, for the record of the run.
void add_fit_command(CLI::App& app, const std::vector<std::string>& words, int& exit_code, const Connect& connect = {});
void add_predict_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_launch_command(CLI::App& app, int& exit_code);
void add_data_command(CLI::App& app);
void add_reproduce_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_demo_command(CLI::App& app);
void add_env_command(CLI::App& app);

}  // namespace lipschitzlr::app

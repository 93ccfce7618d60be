#pragma once
// From the words of the command line to a command (app/command.hpp) with its options set. The only place that knows the
// library that parses them, CLI11.

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "app/command.hpp"

namespace lipschitzlr::app {

// Runs the command that the words name, or prints --help or --version; returns the exit code. A word that makes no
// sense is told in one line on stderr: exit code 2. Other errors are thrown.
int run_command(const Command& program, const std::vector<std::string>& words);

// What --help prints for a command of the program: {"data", "get"}.
std::string help_text(const Command& program, const std::vector<std::string>& path);

// What main() of a program is: runs it, turns an exception into one line on stderr and the exit code. An exception that
// no command expects is told by unexpected(), which returns the exit code.
int exit_code_of(const std::function<int()>& program, const std::function<int(const std::exception&)>& unexpected);

}  // namespace lipschitzlr::app

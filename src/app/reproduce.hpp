#pragma once
// What the two halves of `reproduce` share: tables on linear models, run in this process, and on networks, run by the
// libtorch part.

#include <CLI/CLI.hpp>

#include "lipschitzlr/experiment/limits.hpp"

namespace lipschitzlr::app {

inline constexpr const char* kRecords = "reproduction";  // where the records of networks go

void add_budget_option(CLI::App& command, double& seconds);  // seconds must outlive the command
void add_seeds_option(CLI::App& command, experiment::Limits& limits, const std::string& help);

// table3, comparison, all, and rows of any table by name.
void add_network_tables(CLI::App& reproduce);

}  // namespace lipschitzlr::app

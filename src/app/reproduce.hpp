#pragma once
// What the two halves of `reproduce` share: tables on linear models, run in this process, and on networks, run by the
// libtorch part.

#include <CLI/CLI.hpp>
#include <vector>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/experiment/runner.hpp"
#include "lipschitzlr/run/interrupt.hpp"

namespace lipschitzlr::app {

inline constexpr const char* kRecords = "reproduction";  // where the records of networks go

std::vector<experiment::RowResult> run_linear_rows(const std::vector<experiment::Recipe>& rows,
                                                   const experiment::RunLimits& limits, unsigned threads,
                                                   const run::InterruptGuard& guard);

void add_budget_option(CLI::App& command, double& seconds);  // seconds must outlive the command

// table3, comparison, all, and rows of any table by name.
void add_network_tables(CLI::App& reproduce);

}  // namespace lipschitzlr::app

#pragma once
// What the two halves of `reproduce` share: tables on linear models, run in this process, and on networks, run by the
// libtorch part.

#include <vector>

#include "app/command.hpp"

namespace lipschitzlr::app {

inline constexpr const char* kRecords = "reproduction";  // where the records of networks go

run::Option budget_option(double& seconds);

std::vector<Command> network_table_commands();  // table3, comparison, all
Command network_rows_command();                 // rows of any table by name

}  // namespace lipschitzlr::app

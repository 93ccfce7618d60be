#pragma once
// Rows as tables for the screen (at most 100 characters a line), as JSON and as CSV. Of linear models nothing depends
// on the time of day, the speed or the number of threads.

#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_runner.hpp"

namespace lipschitzlr::experiment {

// Rows of one table on linear models, at least one: the table, then what there is to say about each row. CSV has a line
// per training.
std::string to_text(const std::vector<Row>& rows);
std::string to_json(const std::vector<Row>& rows);
std::string to_csv(const std::vector<Row>& rows);

// Rows on networks and their tasks: a table per protocol, what is open and how long it would take, then the reasons of
// each verdict.
std::string to_text(const std::vector<Row>& rows, const std::vector<NetworkTask>& tasks);

// The hours of every task and of all.
std::string estimate_text(const std::vector<NetworkTask>& tasks, const std::vector<run::NetworkSpeed>& speeds);
std::string estimate_json(const std::vector<NetworkTask>& tasks, const std::vector<run::NetworkSpeed>& speeds);

// Rows of any table: what they need, what the paper says, whether their data are available, and how far records got.
std::string list_text(const std::vector<Row>& rows);
std::string list_json(const std::vector<Row>& rows);

}  // namespace lipschitzlr::experiment

#pragma once
// Rows on networks for the screen and as JSON: what there is, what came out of the records beside the authors' curves,
// and how long what is open would take.

#include <string>
#include <vector>

#include "lipschitzlr/experiment/network_runner.hpp"

namespace lipschitzlr::experiment {

// At most 100 characters a line: a table per protocol, what is open and how long it would take, then the reasons of
// each verdict. records: all there are, of these tasks and of others.
std::string to_text(const std::vector<NetworkTask>& tasks, const std::vector<run::NetworkRecord>& records);
std::string to_json(const std::vector<NetworkTask>& tasks, const std::vector<run::NetworkRecord>& records);

// The hours of every row and of all.
std::string estimate_text(const std::vector<NetworkTask>& tasks, const std::vector<NetworkSpeed>& speeds);
std::string estimate_json(const std::vector<NetworkTask>& tasks, const std::vector<NetworkSpeed>& speeds);

// All rows: what the paper says, whether the data are at hand, how many epochs the records have.
std::string network_list_text(const std::vector<run::NetworkRecord>& records);
std::string network_list_json(const std::vector<run::NetworkRecord>& records);  // an array

}  // namespace lipschitzlr::experiment

#pragma once
// Names as people write them, and short labels for runs.

#include <string>
#include <vector>

#include "lipschitzlr/run/record.hpp"

namespace lipschitzlr::report {

std::string data_title(const std::string& data);        // "cifar10": "CIFAR-10"; a path: its last part
std::string network_title(const std::string& network);  // "resnet20-v1": "ResNet20 v1"
std::string optimizer_title(const std::string& optimizer);

// What a run did: "AdaMo adaptive, coded, decay 0.001".
std::string label_of(const run::Record& record);

// What sets each run apart from the others: the label without what all share. Runs that still have the same get the
// name of their folder too.
std::vector<std::string> labels_of(const std::vector<const run::Record*>& records);

// The command line of a record; empty when it does not say.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace lipschitzlr::report

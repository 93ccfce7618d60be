#pragma once
// Starts the program lipschitzlr-torch in place of this one. The environment must be right before libgomp loads, which
// is why a process that already runs can't do it for itself.

#include <string>
#include <vector>

namespace lipschitzlr::app {

// Where the program lies: ../libexec/lipschitzlr beside the folder of this program. Empty when it is not there.
std::string find_torch_part();

// Does not come back. Throws Error (usage) when the program was not built.
[[noreturn]] void start_torch_part(const std::vector<std::string>& arguments);

// Whether these words of the command line are for the libtorch part: train, and evaluate with a network's --weights.
bool needs_torch_part(const std::vector<std::string>& words);

}  // namespace lipschitzlr::app

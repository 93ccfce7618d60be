#pragma once
// Starts the program lipschitzlr-torch, in place of this one or beside it. The environment must be right before libgomp
// loads, which is why a process that already runs can't do it for itself.

#include <functional>
#include <string>
#include <vector>

#include "base/subprocess.hpp"

namespace lipschitzlr::app {

// Where the program is; empty when it is not there.
inline std::string find_torch_part() { return helper_program("lipschitzlr-torch"); }

// Does not return. Throws Error (usage) when the program was not built.
[[noreturn]] void start_torch_part(const std::vector<std::string>& arguments);

// Starts it as a process of its own and waits for its end, as Subprocess::wait does: once stop() says yes it is
// interrupted, and saves its work. What it prints is added to output, or discarded. Returns its exit code, 130 when it
// was interrupted; throws as start_torch_part.
int run_torch_part(const std::vector<std::string>& arguments, const std::function<bool()>& stop,
                   std::string* output = nullptr);

// Whether these words of the command line are for the libtorch part: train, evaluate with a network's --weights, and
// fit where several processes were started together.
bool needs_torch_part(const std::vector<std::string>& words);

}  // namespace lipschitzlr::app

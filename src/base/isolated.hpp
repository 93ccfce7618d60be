#pragma once
// Work in a copy of this process (fork), for libraries that don't survive every file: a signal that would end us ends
// the copy alone.

#include <functional>
#include <string>

namespace lipschitzlr {

// Returns what the work returned, or throws the Error that it threw. Throws Error (data) with the sentence when the
// copy was ended by a signal, or took more than ten seconds of processor time. The work must not use other threads.
std::string isolated(const std::function<std::string()>& work, const std::string& sentence);

}  // namespace lipschitzlr

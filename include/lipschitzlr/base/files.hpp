#pragma once
// Files that are either whole or not there: written under a temporary name beside the target, flushed, then renamed.

#include <string>
#include <string_view>

namespace lipschitzlr {

// Throws Error (data) naming the path and the system's reason; the old file, if any, is then untouched.
void write_file_atomically(const std::string& path, std::string_view content);

// The whole file. Throws Error (data) when it can't be read.
std::string read_file(const std::string& path);

}  // namespace lipschitzlr

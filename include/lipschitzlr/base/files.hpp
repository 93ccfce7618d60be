#pragma once
// Files that are either complete or not there: written under a temporary name beside the target, flushed, then renamed.

#include <string>
#include <string_view>

namespace lipschitzlr {

// Throws Error (data) naming the path and the system's reason; the old file, if any, is then untouched. The new file
// has the old one's mode; a read-only file is not replaced. A symbolic link keeps pointing where it does, and must
// point to something; a device or a pipe can't be replaced and is written to.
void write_file_atomically(const std::string& path, std::string_view content);

// The same for a file that must be new; false, and nothing is written, when there is one. Of several processes one
// succeeds.
bool write_new_file(const std::string& path, std::string_view content);

// Throws Error (data) unless a file can be made at the path: called before hours of work, not after.
void check_writable(const std::string& path);

// The whole file. Throws Error (data) when it can't be read.
std::string read_file(const std::string& path);

}  // namespace lipschitzlr

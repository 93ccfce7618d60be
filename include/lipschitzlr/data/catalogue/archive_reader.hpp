#pragma once
// Files out of an archive (zip, tar and their packed forms, Debian packages). Part of lipschitzlr_store, which needs
// libarchive.

#include <string>
#include <vector>

namespace lipschitzlr::data {

// The content of each member, in the order asked for, in one pass; "./" before a path does not count. Of a Debian
// package the members are the files it installs. Throws Error (data) when the archive can't be read, does not hold a
// member, or a member is above 256 MiB.
std::vector<std::string> read_members(const std::string& archive_path, const std::vector<std::string>& members);

// One of them.
std::string read_member(const std::string& archive_path, const std::string& member);

}  // namespace lipschitzlr::data

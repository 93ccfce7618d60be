#pragma once
// One file out of an archive (zip, tar and their packed forms). Part of lipschitzlr_fetch, which needs libarchive.

#include <string>

namespace lipschitzlr::data {

// Throws Error (data) when the archive can't be read, does not hold the member, or the member is above 1 GiB.
std::string read_member(const std::string& archive_path, const std::string& member);

}  // namespace lipschitzlr::data

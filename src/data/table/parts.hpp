#pragma once
// Several files as one table: a pattern of the shell, "part-*.csv.gz" or "{jan,feb}.csv".

#include <string>
#include <vector>

namespace lipschitzlr::data {

// The files of a pattern, sorted by name (those of braces in their order); another path is itself. Throws Error (data)
// when no file matches.
std::vector<std::string> parts_of(const std::string& path);

}  // namespace lipschitzlr::data

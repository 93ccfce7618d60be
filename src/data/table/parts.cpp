#include "data/table/parts.hpp"

#include <glob.h>

#include <filesystem>

#include "data/table/read_error.hpp"

namespace lipschitzlr::data {

std::vector<std::string> parts_of(const std::string& path) {
  std::error_code ignored;
  const bool is_pattern = path.find_first_of("*?[{") != std::string::npos && !std::filesystem::exists(path, ignored);
  if (!is_pattern) return {path};
  glob_t found{};
  std::vector<std::string> parts;
  if (::glob(path.c_str(), GLOB_BRACE, nullptr, &found) == 0)
    parts.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (parts.empty()) fail_in_file(path, "no file has a name like this");
  return parts;
}

}  // namespace lipschitzlr::data

#pragma once
// The file a command writes must not be one that it reads.

#include <filesystem>
#include <string>
#include <vector>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"

namespace lipschitzlr::app {

// What a run or a record keeps in its folder: overwritten, it can be neither resumed nor shown any more.
inline bool belongs_to_run(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return false;
  if (!std::filesystem::exists(path.parent_path() / "config.json", failure)) return false;
  const std::string name = path.filename().string();
  return name == "config.json" || name == "metrics.jsonl" || name == "summary.json" || name == "table.json" ||
         path.extension() == ".safetensors";
}

// "-" is standard output. Before the work: throws Error when the file can't be written, has no name, or is one of the
// inputs.
inline void check_output(const std::string& path, const std::vector<std::string>& inputs) {
  if (path.empty()) throw Error(Fault::usage, "-o: expected the name of a file");
  if (path == "-") return;
  if (belongs_to_run(path)) {
    throw Error(Fault::usage, "-o " + path + ": that file belongs to a run of lipschitzlr; name another one");
  }
  for (const std::string& input : inputs) {
    std::error_code failure;
    if (std::filesystem::equivalent(path, input, failure)) {
      throw Error(Fault::usage, "-o " + path + ": that is the file to read; name another one");
    }
  }
  check_writable(path);
}

}  // namespace lipschitzlr::app

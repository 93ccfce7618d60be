#include "app/torch_part.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::app {

std::string find_torch_part() {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const auto program = self.parent_path().parent_path() / "libexec" / "lipschitzlr" / "lipschitzlr-torch";
  return access(program.c_str(), X_OK) == 0 ? program.string() : "";
}

void start_torch_part(const std::vector<std::string>& arguments) {
  std::string program = find_torch_part();
  if (program.empty()) {
    throw Error(Fault::usage,
                "this build has no libtorch part; build with -DLIPSCHITZLR_TORCH=ON, or use ./lipschitzlr");
  }
  // Idle threads that look for work for long take the core another process needs; threads that sleep at once must be
  // woken for every small piece of work. A thousand looks cost neither much (docs/performance.md).
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  throw Error(Fault::usage, fmt::format("{}: can't be started: {}", program, std::strerror(errno)));
}

bool needs_torch_part(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const bool weights = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--weights" || word.starts_with("--weights=");
  });
  return words[0] == "train" || (words[0] == "evaluate" && weights);
}

}  // namespace lipschitzlr::app

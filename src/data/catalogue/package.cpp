#include "data/catalogue/package.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "data/catalogue/install.hpp"
#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/base/files.hpp"
#include "lipschitzlr/data/catalogue/archive.hpp"

namespace lipschitzlr::data::catalogue {
namespace {

namespace fs = std::filesystem;

// Gone at the end, whatever happens.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "lipschitzlr-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(Fault::data, fmt::format("{}: can't make a temporary folder: {}", pattern, std::strerror(errno)));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr int kNoSuchProgram = 127;

// Runs the command in the folder, its output into the file log there. The exit code, kNoSuchProgram when it can't be
// started, -1 when a signal ended it.
int run(const std::vector<std::string>& command, const fs::path& folder) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string log = folder / "log", working_folder = folder;
  const pid_t process = fork();
  if (process < 0) throw Error(Fault::data, fmt::format("can't start {}: {}", command[0], std::strerror(errno)));
  if (process == 0) {
    const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), nothing = open("/dev/null", O_RDONLY);
    if (output < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || dup2(nothing, 0) < 0) _exit(kNoSuchProgram);
    if (chdir(working_folder.c_str()) != 0) _exit(kNoSuchProgram);
    execvp(arguments[0], arguments.data());
    _exit(kNoSuchProgram);
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The reason in many lines of output is the first that is a sentence: six words or more.
std::string reason_in(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (first.empty()) first = line;
    std::istringstream words(line);
    if (std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()) >= 6) {
      return line;
    }
  }
  return first.empty() ? "nothing" : first;
}

std::string file_ending_in(const fs::path& folder, const std::string& extension) {
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    if (file.path().extension() == extension) return file.path();
  }
  return "";
}

struct Recipe {
  std::vector<std::string> command;  // leaves the package in the folder where it runs
  std::string extension;
  std::string how_to_install;
};

Recipe recipe_of(const Package& package) {
  if (package.manager == Manager::npm) {
    return {{"npm", "pack", package.name, "--ignore-scripts", "--loglevel=error", "--fetch-retries=1"},
            ".tgz",
            "install it with: apt-get install npm"};
  }
  return {{"apt-get", "download", package.name}, ".deb", "this is no Debian system"};
}

bool is_installed(const std::vector<std::string>& members) {
  return std::all_of(members.begin(), members.end(), [](const auto& member) { return is_file("/" + member); });
}

}  // namespace

std::string to_string(const Package& package) {
  return fmt::format("the {} package {}", package.manager == Manager::npm ? "npm" : "Debian", package.name);
}

std::vector<std::string> read_package(const Package& package, const std::vector<std::string>& members) {
  if (package.manager == Manager::debian && is_installed(members)) {
    std::vector<std::string> contents;
    for (const std::string& member : members) contents.push_back(read_file("/" + member));
    return contents;
  }
  const TemporaryFolder folder;
  const Recipe recipe = recipe_of(package);
  const std::string& program = recipe.command[0];
  const int code = run(recipe.command, folder.path());
  if (code == kNoSuchProgram) {
    throw Error(Fault::data, fmt::format("the program {} is not installed; {}", program, recipe.how_to_install));
  }
  const std::string archive = code == 0 ? file_ending_in(folder.path(), recipe.extension) : "";
  if (archive.empty()) {
    throw Error(Fault::data, fmt::format("{} {} failed and said: {}", program, recipe.command[1],
                                         reason_in(read_file(folder.path() / "log"))));
  }
  return read_members(archive, members);
}

}  // namespace lipschitzlr::data::catalogue

#include "app/torch_part.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lipschitzlr/base/error.hpp"
#include "lipschitzlr/dist/surroundings.hpp"

namespace lipschitzlr::app {

std::string find_torch_part() {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const auto program = self.parent_path().parent_path() / "libexec" / "lipschitzlr" / "lipschitzlr-torch";
  return access(program.c_str(), X_OK) == 0 ? program.string() : "";
}

namespace {

// The program and its words as execv wants them.
class CommandLine {
 public:
  explicit CommandLine(const std::vector<std::string>& arguments) : words_{find_torch_part()} {
    if (words_[0].empty()) {
      throw Error(Fault::usage,
                  "this build has no libtorch part; build with -DLIPSCHITZLR_TORCH=ON, or use ./lipschitzlr");
    }
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
    // Idle threads that look for work for long take the core another process needs; threads that sleep at once must be
    // woken for every small piece of work. A thousand looks cost neither much (docs/performance.md).
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "1000", 0);
  }
  const std::string& program() const { return words_[0]; }
  void execute() { execv(words_[0].c_str(), pointers_.data()); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

constexpr int kCantStart = 127;

[[noreturn]] void complain(const CommandLine& command) {
  throw Error(Fault::usage, fmt::format("{}: can't be started: {}", command.program(), std::strerror(errno)));
}

// In the new process, between fork and exec: nothing but system calls.
[[noreturn]] void become(CommandLine& command, int output) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it saves its work when we die
#endif
  dup2(output, STDOUT_FILENO);
  command.execute();
  _exit(kCantStart);
}

// Waits a moment, less when there is something to read; false at the end of it.
bool read_some(int from, std::string* output) {
  constexpr int kMoment = 50;  // milliseconds
  pollfd file{from, POLLIN, 0};
  if (poll(&file, from < 0 ? 0 : 1, kMoment) <= 0 || from < 0) return true;
  char part[4096];
  const ssize_t size = read(from, part, sizeof part);
  if (size > 0) output->append(part, static_cast<std::size_t>(size));
  return size != 0;
}

int wait_for(pid_t process, int from, const std::function<bool()>& stop, std::string* output) {
  bool asked = false;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) != process) {
    if (!asked && stop()) asked = kill(process, SIGINT) == 0;
    if (!read_some(from, output)) from = -1;
  }
  while (from >= 0 && read_some(from, output)) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

void start_torch_part(const std::vector<std::string>& arguments) {
  CommandLine command(arguments);
  command.execute();
  complain(command);
}

int run_torch_part(const std::vector<std::string>& arguments, const std::function<bool()>& stop, std::string* output) {
  CommandLine command(arguments);
  int ends[2] = {-1, -1};
  if (output != nullptr ? pipe(ends) != 0 : (ends[1] = open("/dev/null", O_WRONLY)) < 0) complain(command);
  const pid_t process = fork();
  if (process == 0) become(command, ends[1]);
  close(ends[1]);
  if (process < 0) complain(command);
  const int code = wait_for(process, ends[0], stop, output);
  if (ends[0] >= 0) close(ends[0]);
  if (code == kCantStart) throw Error(Fault::usage, fmt::format("{}: can't be started", command.program()));
  return code;
}

namespace {

bool has_company() {
  const auto surroundings = dist::surroundings();
  return surroundings && surroundings->size > 1;
}

}  // namespace

bool needs_torch_part(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const bool weights = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--weights" || word.starts_with("--weights=");
  });
  return words[0] == "train" || (words[0] == "evaluate" && weights) || (words[0] == "fit" && has_company());
}

}  // namespace lipschitzlr::app

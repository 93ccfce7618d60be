#include "dist/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr::dist {
namespace {

constexpr int kNotStarted = 127;  // as a shell says it

}  // namespace

Child::Child(const std::string& program, const std::vector<std::string>& words, const Variables& variables,
             std::string prefix)
    : prefix_(std::move(prefix)) {
  std::vector<std::string> all = {program};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int ends[2] = {-1, -1};
  if (!prefix_.empty() && pipe2(ends, O_CLOEXEC) != 0) throw Error(Fault::usage, "there are no more file descriptors");
  pipe_ = Socket(ends[0]);
  const Socket writer(ends[1]);
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ < 0) throw Error(Fault::usage, fmt::format("can't start a process: {}", std::strerror(errno)));
  if (id_ > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNotStarted);  // it ended before we could ask
  become(std::move(pointers), variables, writer.get());
}

void Child::become(std::vector<char*> words, const Variables& variables, int output) const {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Nobody can say which of the processes would read what stands there.
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  for (const auto& [name, value] : variables) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  execv(words[0], words.data());
  _exit(kNotStarted);
}

void Child::pass_on() {
  char bytes[4096];
  const ssize_t got = read(pipe_.get(), bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0) line_.append(bytes, static_cast<std::size_t>(got));
  if (got <= 0) {
    pipe_ = Socket();
    if (!line_.empty()) line_ += '\n';
  }
  for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
    fmt::print(stderr, "{}{}", prefix_, line_.substr(0, end + 1));
    line_.erase(0, end + 1);
  }
}

void Child::look() {
  int status = 0;
  if (running() && waitpid(id_, &status, WNOHANG) == id_) status_ = status;
}

void Child::signal(int number) const {
  if (running()) kill(id_, number);
}

bool Child::killed() const { return status_ && WIFSIGNALED(*status_); }

int Child::exit_code() const { return killed() ? 128 + WTERMSIG(*status_) : WEXITSTATUS(status_.value_or(0)); }

}  // namespace lipschitzlr::dist

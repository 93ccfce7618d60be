#include "base/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

[[noreturn]] void fail(const std::string& program, int reason) {
  throw Error(Fault::usage, fmt::format("{}: can't be started: {}", program, std::strerror(reason)));
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// In the new process.
void prepare(pid_t parent, Subprocess::Output output, int writer, const Subprocess::Variables& variables) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // it ended before we could ask
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  if (output == Subprocess::Output::discard) writer = nothing;
  if (writer >= 0) dup2(writer, STDOUT_FILENO);
  if (writer >= 0 && output == Subprocess::Output::capture_errors) dup2(writer, STDERR_FILENO);
  for (const auto& [name, value] : variables) {
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
}

std::pair<Descriptor, Descriptor> make_pipe(const std::string& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(program, errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

Subprocess::Subprocess(const std::vector<std::string>& words, Output output, const Variables& variables) {
  const std::vector<char*> pointers = pointers_to(words);
  Descriptor writer;
  if (output == Output::capture || output == Output::capture_errors) {
    std::tie(pipe_, writer) = make_pipe(words.at(0));
  }
  // Closed by a successful exec; otherwise the reason comes through.
  auto [reason_reader, reason_writer] = make_pipe(words.at(0));
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ < 0) fail(words[0], errno);
  if (id_ == 0) {
    prepare(parent, output, writer.get(), variables);
    execvp(pointers[0], pointers.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t told = write(reason_writer.get(), &reason, sizeof reason);
    _exit(127);
  }
  reason_writer.close();
  int reason = 0;
  ssize_t got = 0;
  while ((got = read(reason_reader.get(), &reason, sizeof reason)) < 0 && errno == EINTR) continue;
  if (got != sizeof reason) return;
  waitpid(id_, nullptr, 0);
  fail(words[0], reason);
}

std::string Subprocess::read_output() {
  char bytes[4096];
  ssize_t got = 0;
  while ((got = read(pipe_.get(), bytes, sizeof bytes)) < 0 && errno == EINTR) continue;
  if (got <= 0) pipe_.close();
  return {bytes, static_cast<std::size_t>(std::max<ssize_t>(0, got))};
}

void Subprocess::poll() {
  int status = 0;
  if (running() && waitpid(id_, &status, WNOHANG) == id_) status_ = status;
}

void Subprocess::signal(int number) const {
  if (running()) kill(id_, number);
}

bool Subprocess::killed() const { return status_ && WIFSIGNALED(*status_); }

int Subprocess::exit_code() const { return killed() ? 128 + WTERMSIG(*status_) : WEXITSTATUS(status_.value_or(0)); }

int Subprocess::wait(const std::function<bool()>& stop, std::string* text) {
  constexpr int kMoment = 50;  // milliseconds
  bool asked = false;
  for (; running() || pipe_.open(); poll()) {
    if (stop && !asked && (asked = stop())) signal(SIGINT);
    // A grandchild may keep the pipe open for as long as it likes: once the child has ended, only what is there counts.
    pollfd watched{pipe_.get(), POLLIN, 0};
    const bool ready = ::poll(&watched, 1, running() ? kMoment : 0) > 0;
    if (!ready && !running()) break;
    if (!ready) continue;
    const std::string part = read_output();
    if (text != nullptr) *text += part;
  }
  return exit_code();
}

std::string helper_program(const std::string& name) {
  std::error_code failure;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const std::filesystem::path program = self.parent_path().parent_path() / "libexec" / "lipschitzlr" / name;
  return access(program.c_str(), X_OK) == 0 ? program.string() : "";
}

void become_program(const std::vector<std::string>& words) {
  execvp(words.at(0).c_str(), pointers_to(words).data());
  fail(words[0], errno);
}

}  // namespace lipschitzlr

#include "base/isolated.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <new>

#include "base/descriptor.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

constexpr rlim_t kSeconds = 10;

// The first byte of what the copy sends: 0 for a result, else the fault of an Error.
std::string outcome_of(const std::function<std::string()>& work) {
  try {
    return '\0' + work();
  } catch (const Error& error) {
    return static_cast<char>(error.fault()) + std::string(error.what());
  } catch (const std::bad_alloc&) {
    return static_cast<char>(Fault::data) + std::string("there is not enough memory for this file");
  }
}

[[noreturn]] void be_the_copy(int pipe, const std::function<std::string()>& work) {
  // No handler of ours, or of a sanitizer, makes more of a crash than it is.
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) std::signal(number, SIG_DFL);
  const rlimit no_core{0, 0}, time{kSeconds, kSeconds};
  setrlimit(RLIMIT_CORE, &no_core);
  setrlimit(RLIMIT_CPU, &time);
  const std::string bytes = outcome_of(work);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t now = write(pipe, bytes.data() + sent, bytes.size() - sent);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) _exit(1);
    sent += static_cast<std::size_t>(now);
  }
  _exit(0);
}

std::string read_all(int pipe) {
  std::string bytes;
  char block[1 << 16];
  while (true) {
    const ssize_t now = read(pipe, block, sizeof block);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return bytes;
    bytes.append(block, static_cast<std::size_t>(now));
  }
}

}  // namespace

std::string isolated(const std::function<std::string()>& work, const std::string& sentence) {
  int ends[2];
  if (pipe(ends) != 0) throw Error(Fault::data, "there are no more file descriptors for this process");
  Descriptor reader(ends[0]), writer(ends[1]);
  const pid_t copy = fork();
  if (copy < 0) throw Error(Fault::data, "no process can be started to read a file in");
  if (copy == 0) be_the_copy(writer.get(), work);
  writer.close();
  std::string bytes = read_all(reader.get());
  int status = 0;
  while (waitpid(copy, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes.empty()) throw Error(Fault::data, sentence);
  const auto fault = static_cast<Fault>(bytes[0]);
  bytes.erase(0, 1);
  if (fault != Fault{}) throw Error(fault, bytes);
  return bytes;
}

}  // namespace lipschitzlr

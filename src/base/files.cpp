#include "lipschitzlr/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

[[noreturn]] void fail(const std::string& path, const char* verb, int reason) {
  throw Error(Fault::data, fmt::format("{}: can't {}: {}", path, verb, std::strerror(reason)));
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  const std::string part = fmt::format("{}.{}.part", path, getpid());
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail(path, "write", errno);
  const auto give_up = [&] {
    const int reason = errno;
    close(file);
    unlink(part.c_str());
    fail(path, "write", reason);
  };
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up();
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file) != 0) give_up();
  if (rename(part.c_str(), path.c_str()) != 0) give_up();
  close(file);
}

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path, "read", errno);
  std::ostringstream content;
  content << in.rdbuf();
  // A folder opens but does not read; an empty file gives no characters and sets failbit too.
  if (in.bad() || (content.fail() && errno != 0)) fail(path, "read", errno != 0 ? errno : EIO);
  return std::move(content).str();
}

}  // namespace lipschitzlr

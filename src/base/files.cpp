#include "lipschitzlr/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
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
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::canonical(path, failure);
  const std::string target = failure ? path : resolved.string();
  struct stat state {};
  const bool in_place = stat(target.c_str(), &state) == 0 && !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode);
  const std::string part = in_place ? target : fmt::format("{}.{}.part", target, getpid());
  const int file = open(part.c_str(), in_place ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail(path, "write", errno);
  const auto give_up = [&] {
    const int reason = errno;
    close(file);
    if (!in_place) unlink(part.c_str());
    fail(path, "write", reason);
  };
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up();
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!in_place && fsync(file) != 0) give_up();
  if (!in_place && rename(part.c_str(), target.c_str()) != 0) give_up();
  close(file);
}

void check_writable(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) fail(path, "write", EISDIR);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string where = folder.empty() ? "." : folder.string();
  if (access(where.c_str(), F_OK) != 0 || access(where.c_str(), W_OK) != 0) fail(path, "write", errno);
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

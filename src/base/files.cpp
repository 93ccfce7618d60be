#include "lipschitzlr/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/descriptor.hpp"
#include "lipschitzlr/base/error.hpp"

namespace lipschitzlr {
namespace {

[[noreturn]] void fail(const std::string& path, const char* verb, int reason) {
  throw Error(Fault::data, fmt::format("{}: can't {}: {}", path, verb, std::strerror(reason)));
}

// A new file beside the target, under a name nobody can foresee: whoever may write to the folder could otherwise plant
// a link there, and have another file overwritten.
int open_part(const std::string& target, std::string& part) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    part = fmt::format("{}.{:08x}.part", target, random());
    const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// Of the systems of files that can't do the first most can do the second.
int rename_to_new(const std::string& part, const std::string& target) {
  if (renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (link(part.c_str(), target.c_str()) != 0) return -1;
  return unlink(part.c_str());
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::canonical(path, failure);
  if (failure && std::filesystem::is_symlink(std::filesystem::symlink_status(path, failure)))
    fail(path, "write", ENOENT);
  const std::string target = resolved.empty() ? path : resolved.string();
  struct stat state {};
  const bool exists = stat(target.c_str(), &state) == 0;
  if (exists && S_ISREG(state.st_mode) && (state.st_mode & 0222) == 0) fail(path, "write", EACCES);  // root could
  const bool in_place = exists && !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode);
  std::string part = target;
  const Descriptor file(in_place ? open(part.c_str(), O_WRONLY | O_CLOEXEC) : open_part(target, part));
  if (!file.open()) fail(path, "write", errno);
  const auto give_up = [&] {
    const int reason = errno;
    if (!in_place) unlink(part.c_str());
    fail(path, "write", reason);
  };
  if (!write_all(file.get(), content)) give_up();
  if (in_place) return;
  if (exists && fchmod(file.get(), state.st_mode & 07777) != 0) give_up();
  if (fsync(file.get()) != 0 || rename(part.c_str(), target.c_str()) != 0) give_up();
}

bool write_new_file(const std::string& path, std::string_view content) {
  std::string part;
  const Descriptor file(open_part(path, part));
  if (!file.open()) fail(path, "write", errno);
  if (write_all(file.get(), content) && fsync(file.get()) == 0 && rename_to_new(part, path) == 0) return true;
  const int reason = errno;
  unlink(part.c_str());
  if (reason == EEXIST) return false;
  fail(path, "write", reason);
}

void check_writable(const std::string& path) {
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) fail(path, "write", EISDIR);
  struct stat state {};
  const bool exists = stat(path.c_str(), &state) == 0;
  if (!exists && std::filesystem::is_symlink(std::filesystem::symlink_status(path, failure)))
    fail(path, "write", ENOENT);
  if (exists && S_ISREG(state.st_mode) && (state.st_mode & 0222) == 0) fail(path, "write", EACCES);
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

#include "lipschitzlr/base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
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

struct AtomicFile::State {
  std::string path, target, part;
  bool in_place = false;
  std::optional<mode_t> mode;  // of the old file
  Descriptor file;

  [[noreturn]] void give_up() {
    const int reason = errno;
    if (!in_place) unlink(part.c_str());
    file.close();
    fail(path, "write", reason);
  }
};

AtomicFile::AtomicFile(const std::string& path) : state_(std::make_unique<State>()) {
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::canonical(path, failure);
  if (failure && std::filesystem::is_symlink(std::filesystem::symlink_status(path, failure)))
    fail(path, "write", ENOENT);
  state_->path = path;
  state_->target = state_->part = resolved.empty() ? path : resolved.string();
  struct stat old {};
  const bool exists = stat(state_->target.c_str(), &old) == 0;
  if (exists && S_ISREG(old.st_mode) && (old.st_mode & 0222) == 0) fail(path, "write", EACCES);  // root could
  if (exists) state_->mode = old.st_mode & 07777;
  state_->in_place = exists && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode);
  state_->file = Descriptor(state_->in_place ? open(state_->part.c_str(), O_WRONLY | O_CLOEXEC)
                                             : open_part(state_->target, state_->part));
  if (!state_->file.open()) fail(path, "write", errno);
}

AtomicFile::~AtomicFile() {
  if (state_->file.open() && !state_->in_place) unlink(state_->part.c_str());
}

void AtomicFile::write(std::string_view content) {
  if (!write_all(state_->file.get(), content)) state_->give_up();
}

std::string AtomicFile::part() const { return state_->in_place ? "" : state_->part; }

void AtomicFile::commit() {
  State& state = *state_;
  if (!state.in_place) {
    if (state.mode && fchmod(state.file.get(), *state.mode) != 0) state.give_up();
    if (fsync(state.file.get()) != 0 || rename(state.part.c_str(), state.target.c_str()) != 0) state.give_up();
  }
  state.file.close();
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
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

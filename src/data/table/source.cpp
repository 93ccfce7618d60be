#include "data/table/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "data/table/read_error.hpp"

namespace lipschitzlr::data {
namespace {

// Plain reads rather than a memory map: as fast for parsing, the same for pipes, and a file that is cut short while we
// read is an end of file and not a signal.
class FileSource : public ByteSource {
 public:
  FileSource(int descriptor, bool owned, std::string name)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)) {}
  ~FileSource() override {
    if (owned_) ::close(descriptor_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    std::size_t filled = 0;
    while (filled < size) {
      const ssize_t got = ::read(descriptor_, buffer + filled, size - filled);
      if (got == 0) break;
      if (got > 0) {
        filled += static_cast<std::size_t>(got);
      } else if (errno != EINTR) {
        fail_in_file(name_, std::string("can't be read: ") + std::strerror(errno));
      }
    }
    return filled;
  }

  std::uint64_t expected_size() const override {
    struct stat status {};
    const bool is_plain = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    return is_plain && status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  }

 private:
  int descriptor_;
  bool owned_;
  std::string name_;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view content) : rest_(content), size_(content.size()) {}

  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t count = rest_.copy(buffer, size);
    rest_.remove_prefix(count);
    return count;
  }

  std::uint64_t expected_size() const override { return size_; }

 private:
  std::string_view rest_;
  std::uint64_t size_;
};

}  // namespace

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO, false, display_name(path));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_in_file(path, std::string("can't be opened: ") + std::strerror(errno));
  return std::make_unique<FileSource>(descriptor, true, path);
}

std::unique_ptr<ByteSource> open_memory(std::string_view content) { return std::make_unique<MemorySource>(content); }

}  // namespace lipschitzlr::data

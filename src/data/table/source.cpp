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
  FileSource(int descriptor, bool owned, std::string name, std::uint64_t* bytes_read)
      : descriptor_(descriptor), owned_(owned), name_(std::move(name)), bytes_read_(bytes_read) {}
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
        if (bytes_read_ != nullptr) *bytes_read_ += static_cast<std::uint64_t>(got);
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

 protected:
  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }

 private:
  int descriptor_;
  bool owned_;
  std::string name_;
  std::uint64_t* bytes_read_;
};

class LineRange : public FileSource {
 public:
  LineRange(int descriptor, const std::string& name, std::uint64_t first, std::uint64_t last, std::uint64_t* bytes_read)
      : FileSource(descriptor, true, name, bytes_read),
        first_(first == 0 ? 0 : behind_line(first)),
        last_(std::max(first_, behind_line(last))),
        at_(first_) {
    ::lseek(this->descriptor(), static_cast<off_t>(first_), SEEK_SET);
  }

  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t wanted = std::min<std::uint64_t>(size, last_ - at_);
    const std::size_t got = FileSource::read(buffer, wanted);
    if (got < wanted) fail_in_file(name(), "has become shorter while it is read");
    at_ += got;
    return got;
  }

  std::uint64_t expected_size() const override { return last_ - first_; }
  std::uint64_t position() const override { return first_; }

 private:
  // Behind the first newline from a byte on; the size of the file when there is none.
  std::uint64_t behind_line(std::uint64_t offset) {
    ::lseek(descriptor(), static_cast<off_t>(offset), SEEK_SET);
    char some[1 << 10];
    for (;;) {
      const std::string_view text(some, FileSource::read(some, sizeof(some)));
      const std::size_t newline = text.find('\n');
      if (newline != std::string_view::npos) return offset + newline + 1;
      offset += text.size();
      if (text.size() < sizeof(some)) return offset;
    }
  }

  std::uint64_t first_, last_, at_;
};

int open_descriptor(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_in_file(path, std::string("can't be opened: ") + std::strerror(errno));
  return descriptor;
}

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

std::unique_ptr<ByteSource> open_file(const std::string& path, std::uint64_t* bytes_read) {
  if (path == "-") return std::make_unique<FileSource>(STDIN_FILENO, false, display_name(path), bytes_read);
  return std::make_unique<FileSource>(open_descriptor(path), true, path, bytes_read);
}

std::unique_ptr<ByteSource> open_lines(const std::string& path, std::uint64_t first, std::uint64_t last,
                                       std::uint64_t* bytes_read) {
  return std::make_unique<LineRange>(open_descriptor(path), path, first, last, bytes_read);
}

std::unique_ptr<ByteSource> open_memory(std::string_view content) { return std::make_unique<MemorySource>(content); }

}  // namespace lipschitzlr::data

#pragma once
// Files that are either complete or not there: written under a temporary name beside the target, flushed, then renamed.

#include <memory>
#include <string>
#include <string_view>

namespace lipschitzlr {

// A file that is written piece by piece. All of it throws Error (data) naming the path and the system's reason; the old
// file, if any, is then untouched, as it is without commit(). The new file has the old one's mode; a read-only file is
// not replaced. A symbolic link keeps pointing where it does, and must point to something; a device or a pipe can't be
// replaced and is written to.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view content);
  // Where it can be read before commit(); empty for a device or a pipe.
  std::string part() const;
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The whole of it at once.
void write_file_atomically(const std::string& path, std::string_view content);

// The same for a file that must be new; false, and nothing is written, when there is one. Of several processes one
// succeeds.
bool write_new_file(const std::string& path, std::string_view content);

// Throws Error (data) unless a file can be made at the path: called before hours of work, not after.
void check_writable(const std::string& path);

// The whole file. Throws Error (data) when it can't be read.
std::string read_file(const std::string& path);

}  // namespace lipschitzlr

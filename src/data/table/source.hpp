#pragma once
// Where the bytes of a table come from: a file, a pipe, standard input or memory, unpacked on the way when they are
// gzip or xz. Bytes are handed on in pieces, so that a packed file is never in memory as a whole.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lipschitzlr::data {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills the buffer as far as it can; fewer bytes than asked for mean the end. Throws Error (data).
  virtual std::size_t read(char* buffer, std::size_t size) = 0;

  // How many bytes will come in all, if known, else 0. A hint: the file may change while it is read.
  virtual std::uint64_t expected_size() const { return 0; }

  // Where in the file the first byte stands.
  virtual std::uint64_t position() const { return 0; }
};

// The name of a file in messages: "-" is standard input.
std::string display_name(const std::string& path);

// Opens the file, or standard input for "-". What is read of it is added to bytes_read, unless that is null.
std::unique_ptr<ByteSource> open_file(const std::string& path, std::uint64_t* bytes_read = nullptr);

// The lines of a file behind the first end of a line from byte `first` on, up to the one from byte `last` on: ranges
// that follow one another have every line once. From 0 the first line is among them.
std::unique_ptr<ByteSource> open_lines(const std::string& path, std::uint64_t first, std::uint64_t last,
                                       std::uint64_t* bytes_read);

// The bytes must outlive the source.
std::unique_ptr<ByteSource> open_memory(std::string_view content);

// The source's content, unpacked when its first bytes say gzip, xz or zstd; other archives are refused by name.
std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> source, const std::string& name);

// The same source, and its first few bytes.
std::unique_ptr<ByteSource> peek(std::unique_ptr<ByteSource> source, std::string& first);

}  // namespace lipschitzlr::data

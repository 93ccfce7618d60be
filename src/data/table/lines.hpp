#pragma once
// Text as blocks of whole lines: small enough for the cache, and each block ends with a newline, so that a parser can
// run without looking for the end of its buffer.

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "data/table/source.hpp"
#include "lipschitzlr/base/matrix.hpp"

namespace lipschitzlr::data {

class LineBlocks {
 public:
  static constexpr std::size_t kBlockSize = 1 << 18;
  static constexpr std::size_t kPadding = 8;

  // The source and the name (for messages) must outlive this.
  LineBlocks(ByteSource& source, const std::string& name, std::size_t block_size = kBlockSize);

  // At least the given number of lines, if there are as many, each with its '\n' (added to a last line without one);
  // empty at the end. Valid until the next call. A UTF-8 byte order mark at the start of the file is left out; a NUL
  // byte anywhere is an Error (data), because this is then not text. The kPadding bytes behind a block may be read,
  // too.
  std::string_view next(std::size_t least_lines = 1);

  // From now on as much as so many blocks at once, valid until the next call but one. What can't be read is an error
  // after the blocks before it were handed out, as if they came one by one.
  void join_blocks(std::size_t count) { joined_ = count; }

  // Nothing is left.
  bool at_end() const { return ended_ && taken_ == filled_; }

 private:
  void fill();
  void fill_block(std::size_t size);
  std::size_t whole_lines(std::size_t least_lines) const;

  ByteSource& source_;
  const std::string& name_;
  std::size_t block_size_, joined_ = 1;
  std::vector<char> buffer_;
  std::vector<char> earlier_;  // what was handed out before
  std::size_t taken_ = 0;      // buffer_[0, taken_) was handed out
  std::size_t filled_ = 0;     // buffer_[taken_, filled_) is still to come
  std::uint64_t position_;     // in the source of the next byte to read
  bool ended_ = false;
  std::exception_ptr failure_;  // to be thrown by the next call
};

// Some of the lines of a block.
struct Lines {
  std::string_view text;
  Index count;
};

// A block of whole lines in about so many pieces of equal size.
std::vector<Lines> cut_lines(std::string_view block, std::size_t pieces);

}  // namespace lipschitzlr::data
